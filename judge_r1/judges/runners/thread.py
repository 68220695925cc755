"""Runs a judge that computes synchronously in a thread, so that it does not block a server's event loop."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from judge_r1.judges.base import Closable, Judge, JudgeOutput, PromptFit
from judge_r1.judges.request import JudgeRequest


class ThreadJudge:
    """Runs `judge` in one worker thread, one call at a time. A cancelled call that is waiting never starts; a running
    one finishes in the thread and its output is dropped. Call `close` when done."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self._thread = judge, ThreadPoolExecutor(1, "judge")
        self.name, self.settings = judge.name, judge.settings

    def check(self, requests: Sequence[JudgeRequest]) -> PromptFit | None:
        return self._judge.check(requests)

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
