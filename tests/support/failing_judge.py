"""A judge that fails on some comparisons."""

from collections.abc import AsyncIterator, Callable, Sequence

from serving_fixture import InvalidJudge

from judge_r1.judges.base import JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest


class FailsOn(InvalidJudge):
    """Judges like `longer`, except comparisons with a text that contains a word, or for which a function is true: those
    end by the reason `ended`."""

    def __init__(self, fails: str | Callable[[str], bool], ended: str = "infrastructure_no_answer") -> None:
        super().__init__(ended)
        self._fails = fails if callable(fails) else lambda text: fails in text
        self._longer = make_judge("longer", JudgeBuild(""))

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            fails = any(map(self._fails, request.item.texts))
            judge = super() if fails else self._longer
            async for output in judge.judge([request]):
                yield output
