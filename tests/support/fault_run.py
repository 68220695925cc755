"""Runs a command-line build against a fake teacher and kills it with -9 several times until it completes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fake_llm_server import FakeLLMServer

from data_builders.teachers.answer_cache import Cache


@dataclass
class FaultRun:
    """`lost` counts, per kill, the answers that were in flight to the killed build."""

    kills: int = 0
    runs: int = 0
    lost: list[int] = field(default_factory=list)
    seconds: float = 0.0


def build(
    arguments: Sequence[str], server: FakeLLMServer, cache: Path, *, kills: Sequence[int], seed: int, timeout_s: float
) -> FaultRun:
    """Runs until success. The n-th kill happens shortly after the server has sent `kills[n]` answers in total.

    Raises AssertionError with what the build said where it fails for another reason than a kill.
    """
    run, rng, started = FaultRun(), Random(seed), time.monotonic()
    command = [sys.executable, "-m", "judge_r1.cli", "build", *arguments, "--cache", str(cache)]
    environment = {**os.environ, **server.environment, "OMP_NUM_THREADS": "1"}
    waiting = list(kills)
    while True:
        run.runs += 1
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
        )
        while process.poll() is None and waiting and server.served.total() < waiting[0]:
            _not_too_long(started, timeout_s, process)
            time.sleep(0.005)
        if waiting and process.poll() is None:
            time.sleep(rng.uniform(0, 0.3))
            process.send_signal(signal.SIGKILL)
            waiting.pop(0)
            run.kills += process.wait() == -signal.SIGKILL
        _, said = process.communicate(timeout=max(1.0, timeout_s - (time.monotonic() - started)))
        if process.returncode == -signal.SIGKILL:
            run.lost.append(_lost(server, cache, sum(run.lost)))
        elif process.returncode == 0:
            run.seconds = time.monotonic() - started
            return run
        else:
            raise AssertionError(f"the build ended by itself: {said}")


def _lost(server: FakeLLMServer, cache: Path, before: int) -> int:
    """Answers that the server sent and the build did not store, since the previous kill."""
    while server.in_flight:
        time.sleep(0.01)
    with Cache(cache) as kept:
        [count] = kept._read.execute("SELECT count(*) FROM answers").fetchone()
    return server.made.total() - int(count) - before


def _not_too_long(started: float, timeout_s: float, process: subprocess.Popen[str]) -> None:
    if time.monotonic() - started > timeout_s:
        process.kill()
        raise AssertionError(f"the build is not done after {timeout_s:g} s")
