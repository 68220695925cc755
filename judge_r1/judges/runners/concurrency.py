"""Games at an endpoint: so many at a time, handed on as they finish, and an end to it where the server is gone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from judge_r1.core.endpoint import EndpointError
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest

LOST_IN_A_ROW = 8
"""So many games without an answer, one after the other, and the rest is not tried: with this or the number of games at
a time, whichever is more."""


async def as_finished(
    name: str, asks: Sequence[JudgeRequest], play: Callable[[JudgeRequest], Awaitable[JudgeOutput]], at_a_time: int
) -> AsyncIterator[JudgeOutput]:
    """Every ask played once, at most `at_a_time` together. Errors: EndpointError, after what has finished was handed
    on."""
    waiting = iter(asks)
    running: set[asyncio.Task[JudgeOutput]] = set()
    in_a_row = 0
    try:
        while True:
            while len(running) < at_a_time and (ask := next(waiting, None)) is not None:
                running.add(asyncio.ensure_future(play(ask)))
            if not running:
                return
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)  # each has its deadlines
            for task in [task for task in done if task.exception() is None]:
                played = task.result()
                in_a_row = in_a_row + 1 if played.trajectory.infrastructure_failed else 0
                yield played
            for task in done:
                task.result()
            if in_a_row >= max(LOST_IN_A_ROW, at_a_time):
                raise EndpointError(
                    f"{name}: {in_a_row} games in a row were lost, the last one as {played.trajectory.ended}: what was "
                    "judged is kept; run again with --resume once the server answers"
                )
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
