"""Two candidates to compare, as a judge is shown them."""

from dataclasses import dataclass

from judge_r1.core.records import Case, ReasoningPair


@dataclass(frozen=True)
class PairwiseTask:
    """`case_id` names the text that may be searched and `context` is that text; None and "" where there is nothing but
    what was asked (`decision`)."""

    domain: str
    decision: str
    reasoning_a: str
    reasoning_b: str
    case_id: str | None = None
    context: str = ""


def pairwise_task(pair: ReasoningPair, case: Case) -> PairwiseTask:
    """A pair as it is placed."""
    return PairwiseTask(pair.domain, case.decision, pair.reasoning_a, pair.reasoning_b, case.case_id, case.context)
