"""The task of a judge: two candidates to compare, one to score alone, or several to choose the best of."""

from dataclasses import dataclass
from typing import Literal

from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Conversation
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.verdicts import Evidence
from judge_r1.files.transcripts import TranscriptPair


@dataclass(frozen=True)
class PairwiseTask:
    """Two candidates to compare and what they are about; of `form` "score" only `reasoning_a`, to score from 1 to 10;
    of "list" also `more`, to choose the best.

    `decision` is the decision that both explain, or the request that both answer. `case_id` names the text that may be
    searched and `context` is that text; without a case they are None and "". `passages`, if there are any, are shown
    instead of the context. `examples` are solved pairs of other cases to show first, each with its decision.
    `conversations` are the candidates as messages, if they are conversations; the texts are their transcripts.
    `documents` are further texts of the case by name, for the tool `lookup`.
    """

    domain: str
    decision: str
    reasoning_a: str
    reasoning_b: str
    case_id: str | None = None
    context: str = ""
    passages: tuple[Evidence, ...] = ()
    examples: tuple[tuple[str, ReasoningPair], ...] = ()
    conversations: tuple[Conversation, Conversation] | None = None
    documents: tuple[tuple[str, str], ...] = ()
    form: Literal["pair", "score", "list"] = "pair"
    more: tuple[str, ...] = ()

    @property
    def candidates(self) -> tuple[str, ...]:
        """The candidates in the order shown."""
        return (self.reasoning_a,) if self.form == "score" else (self.reasoning_a, self.reasoning_b, *self.more)


def pairwise_task(pair: ReasoningPair, case: Case) -> PairwiseTask:
    """The task of a pair, with its reasonings in stored order."""
    talks = pair.conversations if isinstance(pair, TranscriptPair) else None
    texts = pair.reasoning_a, pair.reasoning_b
    return PairwiseTask(
        pair.domain, case.decision, *texts, case.case_id, case.context, conversations=talks,
        documents=documents_of(case),
    )  # fmt: skip


def documents_of(case: Case) -> tuple[tuple[str, str], ...]:
    """The further documents of a case, `meta.documents`, by name. Raises: JudgeError unless it maps names to texts."""
    found = case.meta.get("documents") or {}
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise JudgeError(f"case {case.case_id}: meta.documents must map names to texts")
    return tuple(sorted(found.items()))
