"""A judge that computes while it plays, asked by many at once: it does so beside their event loop, not in it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from judge_r1.judges.base import Closable, Judge, JudgeOutput
from judge_r1.judges.request import JudgeRequest


class ThreadJudge:
    """`judge` in a thread of its own, one play at a time. Cancelled, a play that waits is never begun; one that has
    begun ends in its thread, and nobody hears of it. Close it when no more is asked."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self._thread = judge, ThreadPoolExecutor(1, "judge")
        self.name, self.settings = judge.name, judge.settings

    def check(self, asks: Sequence[JudgeRequest]) -> None:
        self._judge.check(asks)

    async def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for played in await asyncio.get_running_loop().run_in_executor(self._thread, self._all, asks):
            yield played

    def close(self) -> None:
        """What has begun ends first."""
        if isinstance(self._judge, Closable):
            self._thread.submit(self._judge.close)
        self._thread.shutdown(wait=False)

    def _all(self, asks: Sequence[JudgeRequest]) -> list[JudgeOutput]:
        async def gather() -> list[JudgeOutput]:
            return [played async for played in self._judge.judge(asks)]

        return asyncio.run(gather())
