"""Runs a command-line build against a fake teacher and kills it with -9 several times until it completes."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from command_server import Command, start
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

    The last run is a fresh process with a hash seed of its own; those before it are forks of the command server.

    Raises AssertionError with what the build said where it fails for another reason than a kill.
    """
    run, rng, started, waiting = FaultRun(), Random(seed), time.monotonic(), list(kills)
    command = ["build", *arguments, f"cache={cache}"]
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "said")
        while True:
            run.runs += 1
            process: Command | subprocess.Popen[bytes]
            if waiting or not kills:  # builds with kills end in a process with another hash seed
                process = start(*command, log=said, env=server.environment)
            else:
                environment = {**os.environ, **server.environment, "OMP_NUM_THREADS": "1"}
                with said.open("ab") as out:
                    fresh = [sys.executable, "-m", "judge_r1.cli", *command]
                    process = subprocess.Popen(fresh, stdout=out, stderr=out, env=environment)
            while process.poll() is None and waiting and server.served.total() < waiting[0]:
                _not_too_long(started, timeout_s, process)
                time.sleep(0.005)
            if waiting and process.poll() is None:
                time.sleep(rng.uniform(0, 0.3))
                process.send_signal(signal.SIGKILL)
                waiting.pop(0)
                run.kills += process.wait(60) == -signal.SIGKILL
            status = process.wait(max(1.0, timeout_s - (time.monotonic() - started)))
            if status == -signal.SIGKILL:
                run.lost.append(_lost(server, cache, sum(run.lost)))
            elif status == 0:
                run.seconds = time.monotonic() - started
                return run
            else:
                raise AssertionError(f"the build ended by itself: {said.read_text(encoding='utf-8')}")


def _lost(server: FakeLLMServer, cache: Path, before: int) -> int:
    """Answers that the server sent and the build did not store, since the previous kill."""
    while server.in_flight:
        time.sleep(0.01)
    with Cache(cache) as kept:
        [count] = kept._read.execute("SELECT count(*) FROM answers").fetchone()
    return server.made.total() - int(count) - before


def _not_too_long(started: float, timeout_s: float, process: Command | subprocess.Popen[bytes]) -> None:
    if time.monotonic() - started > timeout_s:
        process.kill()
        raise AssertionError(f"the build is not done after {timeout_s:g} s")
