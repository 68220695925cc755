"""Scores an answer by comparing it with a reference, for callers in any thread or event loop."""

import json
import math
from collections.abc import Sequence
from functools import cache
from statistics import fmean
from typing import Any, NamedTuple

from judge_r1.core.event_loop import BackgroundLoop, gather_all
from judge_r1.core.principles import GENERAL
from judge_r1.rewards.pair_judge import PairJudge, Question, open_pair_judge

CONCURRENCY = 16


class ReferenceScore(NamedTuple):
    """The mean probability over both orders that the answer is better than the reference, so 1/2 for equal ones; or
    None and the reason why there is no judgment."""

    value: float | None
    reason: str


class ReferenceJudge:
    """`judge` is a SPEC, such as `direct@https://host/v1#model`, or the URL of `judge-r1 serve`."""

    def __init__(self, judge: str) -> None:
        self.judge, self._loop = judge, BackgroundLoop("reference-judge")
        self._opened: PairJudge | None = None

    async def score(
        self, question: str, answer: str, reference: str, context: str = "", domain: str = GENERAL
    ) -> ReferenceScore:
        """Raises: JudgeError if every comparison would fail."""
        return await self._loop.run(self._score(Question(question, context, domain), answer, reference))

    def score_sync(self, question: str, answer: str, reference: str, context: str = "") -> ReferenceScore:
        """`score` for callers without an event loop."""
        return self._loop.run_sync(self._score(Question(question, context), answer, reference))

    async def _score(self, question: Question, answer: str, reference: str) -> ReferenceScore:
        if not answer.strip():
            return ReferenceScore(0.0, "the answer has no text")
        if not reference.strip():
            return ReferenceScore(None, "there is no reference to compare with")
        self._opened = self._opened or open_pair_judge(self.judge, CONCURRENCY)
        orders = ((answer, reference), (reference, answer))
        found = await gather_all([self._opened.compare(question, first, second) for first, second in orders])
        (first, _), (second, _) = found
        won = [value for value in (first, None if second is None else 1.0 - second) if value is not None]
        reasons = "; ".join(sorted({reason for _, reason in found if reason}))
        return ReferenceScore(fmean(won) if won else None, reasons or f"compared with the reference by {self.judge}")


@cache
def shared_reference_judge(judge: str) -> ReferenceJudge:
    """The judge of this process, which loads its model once."""
    return ReferenceJudge(judge)


def best(scores: Sequence[float | None]) -> float:
    """The highest of the scores against several references; NaN if a missing one could be higher."""
    known = max((score for score in scores if score is not None), default=math.nan)
    return math.nan if None in scores and known != 1.0 else known


def text_of_value(value: Any) -> str:
    """A text as it is, no text for None, the value of a mapping with one key, and JSON of anything else."""
    if isinstance(value, dict) and len(value) == 1:
        [value] = value.values()
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
