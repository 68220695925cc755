"""A judge that fails on some comparisons."""

from collections.abc import AsyncIterator, Sequence

from serving_fixture import InvalidJudge

from judge_r1.judges.base import JudgeBuild, JudgeOutput
from judge_r1.judges.panel import make_judge
from judge_r1.judges.request import JudgeRequest


class FailsOn(InvalidJudge):
    """Judges like `longer`, except comparisons in which a text contains `word`: those end by the reason `ended`."""

    def __init__(self, word: str, ended: str = "infrastructure_no_answer") -> None:
        super().__init__(ended)
        self._word, self._longer = word, make_judge("longer", JudgeBuild(""))

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            fails = any(self._word in str(text) for text in request.item.candidates)
            judge = super() if fails else self._longer
            async for output in judge.judge([request]):
                yield output
