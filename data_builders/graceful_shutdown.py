"""Ending a long run on a signal: the first one lets it come to a clean end, the second one does not wait."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from judge_r1.core.errors import JudgeError

R = TypeVar("R")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(JudgeError):
    """The user, or the machine, ended the run."""


def run_stoppable(main: Coroutine[Any, Any, R], how_to_go_on: str) -> R:
    """`asyncio.run`. Ctrl-C or SIGTERM cancels `main`, which may still wait for what it has under way (calls in flight
    are paid for, and their answers kept); the next signal ends the process at once. Errors: Stopped."""
    stopped = False

    async def stoppable() -> R:
        loop, task = asyncio.get_running_loop(), asyncio.create_task(main)

        def stop() -> None:
            nonlocal stopped
            stopped = True
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
            raise Stopped(f"stopped: {how_to_go_on}") from None
        raise
