"""Runs a judge that computes synchronously in a thread, so that it does not block a server's event loop."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from judge_r1.judges.base import Closable, Judge, JudgeOutput
from judge_r1.judges.request import JudgeRequest


class ThreadJudge:
    """`judge` in a thread of its own, one play at a time. Cancelled, a play that waits is never started; one that has
    started ends in its thread, and nobody hears of it. Close it when no more is asked."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self._thread = judge, ThreadPoolExecutor(1, "judge")
        self.name, self.settings = judge.name, judge.settings

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        self._judge.check(requests)

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for output in await asyncio.get_running_loop().run_in_executor(self._thread, self._all, requests):
            yield output

    def close(self) -> None:
        """What has started ends first."""
        if isinstance(self._judge, Closable):
            self._thread.submit(self._judge.close)
        self._thread.shutdown(wait=False)

    def _all(self, requests: Sequence[JudgeRequest]) -> list[JudgeOutput]:
        async def gather() -> list[JudgeOutput]:
            return [output async for output in self._judge.judge(requests)]

        return asyncio.run(gather())
