"""The task of a pairwise judge: two candidates to compare."""

from dataclasses import dataclass

from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.verdicts import Evidence


@dataclass(frozen=True)
class PairwiseTask:
    """Two candidates and what they are about.

    `decision` is the decision that both explain, or the request that both answer. `case_id` names the text that may be
    searched and `context` is that text; without a case they are None and "". `passages`, if there are any, are shown
    instead of the context. `examples` are solved pairs of other cases to show first, each with its decision.
    """

    domain: str
    decision: str
    reasoning_a: str
    reasoning_b: str
    case_id: str | None = None
    context: str = ""
    passages: tuple[Evidence, ...] = ()
    examples: tuple[tuple[str, ReasoningPair], ...] = ()


def pairwise_task(pair: ReasoningPair, case: Case) -> PairwiseTask:
    """The task of a pair, with its reasonings in stored order."""
    return PairwiseTask(pair.domain, case.decision, pair.reasoning_a, pair.reasoning_b, case.case_id, case.context)
