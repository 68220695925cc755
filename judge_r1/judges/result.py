"""The result of a judge for the Python API and the server, and the request for one pair."""

from dataclasses import dataclass
from html import escape
from typing import Literal

from judge_r1.core.case_store import CaseStore
from judge_r1.core.items import Item
from judge_r1.core.memory import DocumentMemory
from judge_r1.core.principles import GENERAL, by_number
from judge_r1.core.records import Trajectory
from judge_r1.core.text_check import check_domain, check_unicode, counted
from judge_r1.core.verdicts import (
    Comparison,
    Evidence,
    InvalidVerdict,
    Verdict,
    Winner,
    comparison_of,
    describe_verdict,
    preference,
)
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest


@dataclass(frozen=True)
class JudgeResult:
    """The verdict of a judge with its explanation and evidence.

    `verdict` is a comparison, scores, a ranking, a checklist, or invalid. `confidence` is the probability of the
    verdict at the deciding token, if known. `ended` says how the episode ended; for an invalid verdict it is the
    reason. `memory` holds the notes of a judge that reads in sections, one memory per candidate.
    """

    verdict: Verdict
    violated_principles: tuple[int, ...]
    explanation: str | None
    evidence: tuple[Evidence, ...]
    confidence: float | None
    ended: str
    trajectory: Trajectory
    memory: tuple[DocumentMemory, ...] = ()

    @property
    def valid(self) -> bool:
        return not isinstance(self.verdict, InvalidVerdict)

    @property
    def winner(self) -> Winner | None:
        """The better candidate of a pair; None if the verdict is invalid or does not compare two candidates."""
        return preference(self.verdict)

    @property
    def comparison(self) -> Comparison | None:
        """The paper's notation; None also for a tie."""
        return comparison_of(self.winner)

    @property
    def principles(self) -> tuple[str, ...]:
        """Names of the principles that the worse candidate violates."""
        return tuple(by_number(number).name for number in self.violated_principles)

    def __str__(self) -> str:
        if not self.valid:
            return describe_verdict(self.verdict)
        confidence = f" (confidence {self.confidence:.2f})" if self.confidence is not None else ""
        violated = f"; the other violates {', '.join(self.principles)}" if self.principles else ""
        searches = counted(self.trajectory.searches, "search")
        return f"{describe_verdict(self.verdict)}{confidence}{violated}; {searches}"

    def _repr_html_(self) -> str:
        """The notebook view: verdict, explanation and the passages read."""
        rows = "".join(f"<li>{escape(passage.text)}</li>" for passage in self.evidence)
        passages = f"<details><summary>{counted(len(self.evidence), 'passage')} read</summary><ol>{rows}</ol></details>"
        explanation = f"<p>{escape(self.explanation)}</p>" if self.explanation else ""
        return f"<div><strong>{escape(str(self))}</strong>{explanation}{passages if rows else ''}</div>"


def request_of(
    item_id: str,
    cases: CaseStore,
    *,
    reasoning_a: str,
    reasoning_b: str | None,
    context: str = "",
    decision: str = "",
    domain: str = GENERAL,
    tenant: str = "",
) -> JudgeRequest:
    """The request to compare two candidates, or without `reasoning_b` to score one. Stores the case in `cases`.

    Raises:
        BadText: A field is not a valid text, or the domain is not a lower-case name.
        CaseStoreFull: There is no space for the case.
    """
    candidates = (reasoning_a,) if reasoning_b is None else (reasoning_a, reasoning_b)
    texts = {"context": context, "decision": decision, "reasoning_a": reasoning_a, "reasoning_b": reasoning_b or ""}
    for name, text in texts.items():
        check_unicode(text, name)
    check_domain(domain)
    case_id = cases.put(context, tenant) if context.strip() else None
    item = Item(
        item_id=item_id,
        cluster_id=case_id or item_id,
        case_id=case_id,
        instruction=decision,
        candidates=candidates,
        gold=None,
    )
    form: Literal["pair", "score"] = "score" if reasoning_b is None else "pair"
    shown = context if case_id else ""
    task = PairwiseTask(domain, decision, reasoning_a, reasoning_b or "", case_id, shown, form=form)
    return JudgeRequest(item, tuple(range(len(candidates))), 0, task)


def result_of(output: JudgeOutput) -> JudgeResult:
    verdict, trajectory = output.verdict, output.trajectory
    judgment = trajectory.judgment
    return JudgeResult(
        verdict=verdict,
        violated_principles=judgment.violated_principles if judgment else (),
        explanation=judgment.explanation if judgment else None,
        evidence=judgment.evidence if judgment else (),
        confidence=output.confidence,
        ended=verdict.reason if isinstance(verdict, InvalidVerdict) else trajectory.ended,
        trajectory=trajectory,
        memory=judgment.memory if judgment else output.memory,
    )
