"""Runs requests concurrently, yields outputs as they finish, and stops if the server is down."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from judge_r1.core.endpoint import EndpointError
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest

MAX_CONSECUTIVE_FAILURES = 8
"""After this many consecutive infrastructure failures (or `limit`, if greater) the remaining requests are not tried."""


async def as_finished(
    name: str, requests: Sequence[JudgeRequest], run: Callable[[JudgeRequest], Awaitable[JudgeOutput]], limit: int
) -> AsyncIterator[JudgeOutput]:
    """Runs every request once, at most `limit` concurrently. Once one is answered, failures that concern a single
    request (`Trajectory.unanswered`) do not count as a sign that the server is down.

    Raises: EndpointError, after yielding what has finished.
    """
    if len(requests) == 1:  # a server asks for one at a time: no task, and no count of failures
        yield await run(requests[0])
        return
    waiting = iter(requests)
    running: set[asyncio.Task[JudgeOutput]] = set()
    consecutive, answered, stopped = 0, False, ""
    try:
        while True:
            while len(running) < limit and (request := next(waiting, None)) is not None:
                running.add(asyncio.ensure_future(run(request)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)  # each has its deadlines
            for task in [task for task in done if task.exception() is None]:
                output = task.result()
                ended = output.trajectory
                if not ended.infrastructure_failed:
                    consecutive, answered = 0, True
                elif not (answered and ended.unanswered):
                    consecutive += 1
                # At least `limit`: when a server restarts, all requests that run at that moment fail together.
                if not stopped and consecutive >= max(MAX_CONSECUTIVE_FAILURES, limit):
                    stopped = f"{consecutive} consecutive requests failed, the last one with {ended.ended}"
                    stopped += f" ({ended.detail})" if ended.detail else ""
                yield output
            for task in done:
                task.result()  # raises the error of a task, after the outputs beside it were yielded
            if stopped:
                raise EndpointError(
                    f"{name}: {stopped}: finished results are saved; run again with --resume once the server answers"
                )
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
