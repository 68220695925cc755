"""A judge of single candidates: the score is the length of the text."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from judge_r1.core.records import Trajectory, Turn
from judge_r1.core.verdicts import InvalidVerdict, Judgment, ScoresVerdict
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest


class LengthScore:
    """Names principle 2 in every text. A text with "invalid" has no score, and one with "lost" no answer."""

    name = "length-score"
    settings: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in reversed(requests):
            task = request.task
            assert isinstance(task, PairwiseTask)
            assert task.form == "score"
            text = task.reasoning_a
            self.asked.append((text, request.sample))
            ended = "infrastructure_timeout" if "lost" in text else "rejected_bad_score" if "invalid" in text else None
            verdict = InvalidVerdict(reason=ended) if ended else ScoresVerdict(scores=(float(len(text)),))
            judgment = None if ended else Judgment(verdict=verdict, violated_principles=(2,))
            trajectory = Trajectory.without_ids(ended or "answer", [Turn(text=f"score of {text}")], judgment)
            yield JudgeOutput(request, trajectory, verdict, usage={"calls": 1})
