"""The evidence judge looks up, without a model, the words in which two candidates differ.

At each difference a candidate gets the value of the best passage that holds all its words: 1 and the inverse document
frequencies of the `NEIGHBOURS` words on each side that the passage holds, too. A word counts with
ln(1 + (N - n + 0.5) / (n + 0.5)), as in BM25, where n of the N passages of the case hold it. Words that no passage
holds count 0, and a candidate that lacks the words which the other one adds gets `ABSENT`. The larger sum is better,
in either order of the candidates. The evidence of a judgment is the passages that decided.

A judge with a model should find more than this. The rule names no principle, does not recognise a value in another
notation, and finds nothing where candidates differ in wording or in signs such as ≤ alone.
"""

import math
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import lru_cache
from typing import Any

from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Evidence, Judgment, PairwiseVerdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JUDGES, BadJudge, JudgeBuild, JudgeKind, JudgeOutput
from judge_r1.judges.baselines import Baseline, pair_of
from judge_r1.judges.request import JudgeRequest
from retrieval.differences import Side, differences
from retrieval.passages import Passage, split_passages
from retrieval.words import characters, spellings, terms

NEIGHBOURS, PASSAGE_WORDS = 5, 60
"""Chosen on development cases (docs/experiments/evidence.csv)."""
ABSENT = 0.5
"""Words that one candidate adds are worth more if a passage holds them, and less if none does."""
SCALE = 2.0
"""The margin at which the confidence is 1 / (1 + 1/e)."""


class CasePassages:
    """The passages of a case with their terms."""

    def __init__(self, text: str) -> None:
        self.passages = split_passages(text, PASSAGE_WORDS)
        self.terms = [frozenset((*terms(p.text), *characters(p.text), *spellings(p.text))) for p in self.passages]
        held = Counter(term for found in self.terms for term in found)
        size = len(self.passages)
        self.idf = {term: math.log(1 + (size - n + 0.5) / (n + 0.5)) for term, n in held.items()}

    def best(self, side: Side) -> tuple[float, Passage | None]:
        """The value of the words of a side, and the best passage that holds them, the first one of several. Without
        words it is the passage that holds most of the neighbours."""
        words = set(_terms(side.words))
        near = sorted(set(_terms(side.neighbours)) - words)
        held = [
            (math.fsum(self.idf[term] for term in near if term in found), passage)
            for found, passage in zip(self.terms, self.passages, strict=True)
            if words <= found
        ]
        value, passage = max(held, key=lambda one: one[0], default=(0.0, None))
        if not words:
            return ABSENT, passage if value else None
        return (1 + value if passage else 0.0), passage


def look_up(case: CasePassages, first: str, second: str) -> tuple[float, list[tuple[float, Passage]]]:
    """The value of the first text minus that of the second one, and the passages that speak for the better one, each
    with its part of the margin, in the order of the differences."""
    parts: list[tuple[float, Passage | None]] = []
    for found in differences(first, second, NEIGHBOURS):
        (value, passage), (other, others) = case.best(found.first), case.best(found.second)
        parts.append((value - other, passage if value > other else others))
    margin = math.fsum(part for part, _ in parts)
    return margin, [(abs(part), passage) for part, passage in parts if passage and part * margin > 0]


def _terms(words: Sequence[str]) -> list[str]:
    return [term for word in words for term in terms(word)]


class EvidenceJudge(Baseline):
    """The rule as a judge. Its confidence is 1 / (1 + exp(-margin / `SCALE`)), and it has none in a tie."""

    def __init__(self) -> None:
        self.name = "evidence"
        self._case = lru_cache(maxsize=64)(CasePassages)

    @property
    def settings(self) -> dict[str, Any]:
        return {"neighbours": NEIGHBOURS, "passage_words": PASSAGE_WORDS}

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        for request in requests:
            _pair_with_case(request)

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            task = _pair_with_case(request)
            margin, passages = look_up(self._case(task.context), task.reasoning_a, task.reasoning_b)
            verdict = PairwiseVerdict(winner="tie" if margin == 0 else "A" if margin > 0 else "B")
            shown = tuple(dict.fromkeys(_evidence(task, passage, value) for value, passage in passages))
            judgment = Judgment(verdict=verdict, evidence=shown)
            confidence = 1 / (1 + math.exp(-abs(margin) / SCALE)) if margin else None
            yield JudgeOutput(request, Trajectory.without_ids("answer", judgment=judgment), verdict, confidence)


def _pair_with_case(request: JudgeRequest) -> PairwiseTask:
    task = pair_of("evidence", request)
    if not task.context.strip():
        raise BadJudge(
            f"evidence looks up in the case where two candidates differ, but item {request.item.item_id} has none: "
            "name another judge, such as longer"
        )
    return task


def _evidence(task: PairwiseTask, passage: Passage, score: float) -> Evidence:
    assert task.case_id is not None
    return Evidence(case_id=task.case_id, start=passage.start, end=passage.end, text=passage.text, score=score)


def _make(build: JudgeBuild) -> Any:
    return EvidenceJudge()


JUDGES.register("evidence")(
    JudgeKind("looks up the words in which the candidates differ in the case", _make, needs_backend=False)
)
