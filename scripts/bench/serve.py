"""Measures a served judge under load.

    python -m scripts.bench.serve load --clients 200 --requests 2000 --rounds 3

It starts a server (as `judge-r1 serve` runs it) with a judge that takes 50 ms per request and returns a hash of the
request as its explanation, so that every answer can be checked. The clients send small bodies, 1 MB cases, slowly sent
bodies and malformed ones; some disconnect before the answer. After a 429 a client retries after `Retry-After`.
"""

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from rich.console import Console
from torch.distributed.elastic.utils.distributed import get_free_port

from judge_r1.client import Client
from judge_r1.client.responses import ServerError
from judge_r1.core.case_store import CaseStore
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest
from judge_r1.serving.middleware.body_limit import MIB
from judge_r1.serving.queue import RequestQueue
from judge_r1.serving.server import run_app
from judge_r1.serving.service import Service
from scripts.load_test_clients import Load, run_clients

JUDGE_S = 0.05
CASES = 16 * MIB
"""Case store limit of the server. It is small, so that other memory growth is visible."""
REPO = Path(__file__).resolve().parents[2]


def sign(context: str, a: str, b: str) -> str:
    """The explanation that `Echo` returns for a request."""
    return sha256("\0".join([context, a, b]).encode()).hexdigest()


class Echo:
    """Prefers A and returns a hash of the request as its explanation."""

    name = "echo"

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    def check(self, requests: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            await asyncio.sleep(JUDGE_S)
            task = request.task
            assert isinstance(task, PairwiseTask)
            signature = sign(task.context, task.reasoning_a, task.reasoning_b)
            judgment = Judgment.pairwise("A>B", (1,), signature)
            trajectory = Trajectory.without_ids("answer", judgment=judgment)
            yield JudgeOutput(request, trajectory, request.read(trajectory))


@dataclass(frozen=True)
class Round:
    load: Load
    wall_s: float
    cpu_s: float
    """CPU seconds (user and system) of the server in the round."""
    rss: int
    """Memory of the server after the round, in bytes."""


def rounds(clients: int, requests: int, count: int, *, running: int = 8, waiting: int = 64) -> tuple[int, list[Round]]:
    """Runs `count` rounds against one server. Returns its memory in bytes before the first round, and the rounds."""
    with served(running, waiting) as (process, port):
        before, found = rss(process.pid), []
        for seed in range(count):
            started, used = time.monotonic(), cpu_seconds(process.pid)
            load = asyncio.run(run_clients(port, clients, requests, sign, seed))
            wall_s, cpu_s = time.monotonic() - started, cpu_seconds(process.pid) - used
            found.append(Round(load, wall_s, cpu_s, rss(process.pid)))
        return before, found


@contextmanager
def served(running: int, waiting: int) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """Starts a server in a subprocess and yields it with its port once it is ready."""
    port = get_free_port()  # type: ignore[no-untyped-call]
    sizes = [str(running), str(waiting)]
    run = [sys.executable, "-m", "scripts.bench.serve", "server", *sizes, "--port", str(port)]
    process = subprocess.Popen(run, cwd=REPO, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_ready(process, port)
        yield process, port
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(30)


def rss(process: int) -> int:
    """Resident memory of a process in bytes (Linux)."""
    [kib] = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(kib) * 1024


def cpu_seconds(process: int) -> float:
    """CPU seconds (user and system) that a process has used (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _wait_until_ready(process: "subprocess.Popen[bytes]", port: int, seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    with Client(f"http://127.0.0.1:{port}", attempts=1, seconds=60) as client:
        while True:
            try:
                client.judge(reasoning_a="a b", reasoning_b="c")
                return
            except ServerError:
                if process.poll() is not None or time.monotonic() > until:
                    raise
                time.sleep(0.2)


def _serve_echo(running: int, waiting: int, port: int) -> None:
    judge = Echo()
    run_app(Service(judge, CaseStore(CASES), RequestQueue(judge, running, waiting, 30.0)), "127.0.0.1", port)


def _print_load(before: int, found: list[Round]) -> None:
    show = Console(width=160).print
    show(f"memory before: {before / MIB:.0f} MiB without cases; the case store may use {CASES // MIB} MiB")
    for number, one in enumerate(found, 1):
        load = one.load
        q = statistics.quantiles(load.seconds, n=100)
        p = statistics.quantiles(load.total_seconds, n=100)
        requests = sum(load.sent.values())
        show(
            f"round {number}: {one.wall_s:.1f} s, {requests / one.wall_s:.0f} requests/s, "
            f"{1000 * one.cpu_s / sum(load.statuses.values()):.2f} ms CPU of the server per answer"
        )
        show(f"  sent {dict(load.sent)}; statuses {dict(sorted(load.statuses.items()))}")
        show(f"  judged {load.judged}, disconnected {load.disconnected}, refused {load.refused}")
        show(f"  failed {len(load.failed)}, mismatched {len(load.mismatched)}", *load.failed[:3], *load.mismatched[:3])
        show(
            f"  small requests: p50 {q[49]:.2f} s, p95 {q[94]:.2f} s; "
            f"any request, including retries after 429: p50 {p[49]:.2f} s, p95 {p[94]:.2f} s"
        )
        show(f"  memory after: {one.rss / MIB:.0f} MiB")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    load = commands.add_parser("load")
    for name, default in {"clients": 200, "requests": 2000, "rounds": 3}.items():
        load.add_argument(f"--{name}", type=int, default=default)
    server = commands.add_parser("server", help="runs the server of `load` (internal)")
    server.add_argument("running", type=int)
    server.add_argument("waiting", type=int)
    server.add_argument("--port", type=int, required=True)
    given = parser.parse_args(arguments)
    if given.command == "server":
        _serve_echo(given.running, given.waiting, given.port)
    else:
        _print_load(*rounds(given.clients, given.requests, given.rounds))


if __name__ == "__main__":
    main()
