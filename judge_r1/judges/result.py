"""The result of a judge for the Python API and the server, and the request for one pair."""

from dataclasses import dataclass
from html import escape
from typing import Literal

from judge_r1.core.case_store import CaseStore
from judge_r1.core.items import Item
from judge_r1.core.principles import GENERAL, by_number
from judge_r1.core.records import Evidence, InvalidVerdict, PairwiseVerdict, Trajectory
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest


@dataclass(frozen=True)
class JudgeResult:
    """What a judge said of two candidates. `winner` is None where its answer is invalid, for the reason that `ended`
    names. `confidence` is the probability of the winner by the token that decided, where that is known."""

    winner: Literal["A", "B", "tie"] | None
    violated_principles: tuple[int, ...]
    explanation: str | None
    evidence: tuple[Evidence, ...]
    confidence: float | None
    ended: str
    trajectory: Trajectory

    @property
    def valid(self) -> bool:
        return self.winner is not None

    @property
    def comparison(self) -> str | None:
        return {"A": "A>B", "B": "A<B"}.get(self.winner or "")

    @property
    def principles(self) -> tuple[str, ...]:
        """The names of the principles that the worse candidate violates."""
        return tuple(by_number(number).name for number in self.violated_principles)

    def __str__(self) -> str:
        if not self.valid:
            return f"no valid answer ({self.ended})"
        said = "a tie" if self.winner == "tie" else f"{self.winner} is better"
        named = f"; the other violates {', '.join(self.principles)}" if self.principles else ""
        sure = f" (confidence {self.confidence:.2f})" if self.confidence is not None else ""
        searches = self.trajectory.searches
        return f"{said}{sure}{named}; {searches} search{'' if searches == 1 else 'es'}"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and the evidence that was read."""
        rows = "".join(f"<li>{escape(passage.text)}</li>" for passage in self.evidence)
        shown = f"<details><summary>{len(self.evidence)} passages read</summary><ol>{rows}</ol></details>"
        told = f"<p>{escape(self.explanation)}</p>" if self.explanation else ""
        return f"<div><strong>{escape(str(self))}</strong>{told}{shown if rows else ''}</div>"


def request_of(
    item_id: str,
    shelf: CaseStore,
    *,
    reasoning_a: str,
    reasoning_b: str,
    context: str = "",
    decision: str = "",
    domain: str = GENERAL,
    owner: str = "",
) -> JudgeRequest:
    """One game of two candidates; the case is put on the shelf."""
    case_id = shelf.put(context, owner) if context.strip() else None
    item = Item(
        item_id=item_id,
        cluster_id=case_id or item_id,
        case_id=case_id,
        instruction=decision,
        candidates=(reasoning_a, reasoning_b),
        gold=None,
    )
    question = PairwiseTask(domain, decision, reasoning_a, reasoning_b, case_id, context if case_id else "")
    return JudgeRequest(item, (0, 1), 0, question)


def result_of(played: JudgeOutput) -> JudgeResult:
    verdict, trajectory = played.verdict, played.trajectory
    judgment = trajectory.judgment
    return JudgeResult(
        winner=verdict.winner if isinstance(verdict, PairwiseVerdict) else None,
        violated_principles=judgment.violated_principles if judgment else (),
        explanation=judgment.explanation if judgment else None,
        evidence=judgment.evidence if judgment else (),
        confidence=played.confidence,
        ended=verdict.reason if isinstance(verdict, InvalidVerdict) else trajectory.ended,
        trajectory=trajectory,
    )
