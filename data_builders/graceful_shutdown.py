"""Stops a long run on a signal: the first one ends it cleanly, the second one at once."""

import asyncio
import signal
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

from judge_r1.core.errors import JudgeError

R = TypeVar("R")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(JudgeError):
    """The run was ended by a signal."""


def run_stoppable(main: Coroutine[Any, Any, R], how_to_resume: str) -> R:
    """Like `asyncio.run`, but Ctrl-C or SIGTERM cancels `main`, which may still wait for calls in flight, because they
    are paid for. The next signal ends the process at once. Raises: Stopped."""
    stopped = False

    async def stoppable() -> R:
        loop, task = asyncio.get_running_loop(), asyncio.create_task(main)

        def stop() -> None:
            nonlocal stopped
            stopped = True
            print("stopping after the calls in flight; a second Ctrl-C stops at once", file=sys.stderr, flush=True)
            for number in SIGNALS:
                loop.remove_signal_handler(number)
            task.cancel()

        for number in SIGNALS:
            loop.add_signal_handler(number, stop)
        try:
            return await task
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        if stopped:
            raise Stopped(f"stopped: {how_to_resume}") from None
        raise
