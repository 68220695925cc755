"""The first signal lets a run finish its cleanup; the second one stops it immediately."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from data_builders.teacher_session import Stopped, run_stoppable


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_cancels_and_waits_for_cleanup(number: signal.Signals, capsys: pytest.CaptureFixture[str]) -> None:
    events: list[str] = []

    async def main() -> None:
        os.kill(os.getpid(), number)
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.05)
            events.append(capsys.readouterr().err)
            events.append("running calls finished")

    with pytest.raises(Stopped, match="stopped: run it again"):
        run_stoppable(main(), "run it again")
    said = "stopping after the calls in flight; a second Ctrl-C stops at once\n"
    assert events == [said, "running calls finished"]


def test_second_signal_stops_immediately() -> None:
    program = """
import asyncio, os, signal
from data_builders.teacher_session import run_stoppable
async def main():
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(60)
    finally:
        asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
run_stoppable(main(), "x")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=40, check=False)
    assert done.returncode not in (0, None)
    assert "KeyboardInterrupt" in done.stderr


def test_without_a_signal_results_and_errors_propagate() -> None:
    async def fine() -> int:
        return 7

    async def cancelled() -> None:
        raise asyncio.CancelledError

    assert run_stoppable(fine(), "x") == 7
    with pytest.raises(asyncio.CancelledError):
        run_stoppable(cancelled(), "x")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
