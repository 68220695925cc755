"""Measures a served judge: behaviour under load, and the speed-up of batching.

    python -m scripts.bench.serve load --clients 200 --requests 2000 --rounds 3
    python -m scripts.bench.serve batches --judge agentic@runs/mini/grpo/model --path runs/mini/data/test --pairs 64

`load` starts a server (as `judge-r1 serve` runs it) with a judge that takes 50 ms per request and returns a hash of the
request as its explanation, so that every answer can be checked. The clients send small bodies, 1 MB cases, slowly sent
bodies and malformed ones; some disconnect before the answer. After a 429 a client retries after `Retry-After`.
`batches` sends the same pairs to `judge-r1 serve` with a real model, one at a time and sixteen at once, and checks that
the judgments are equal.
"""

import argparse
import asyncio
import os
import re
import socket
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

from judge_r1.client import Client
from judge_r1.client.responses import ServerError
from judge_r1.core.case_store import CaseStore
from judge_r1.core.pair_set import load_pairs
from judge_r1.core.records import Trajectory
from judge_r1.core.verdicts import Judgment
from judge_r1.core.wire import JudgeResponse
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
    with served("server", str(running), str(waiting)) as (process, port):
        before, found = rss(process.pid), []
        for seed in range(count):
            started, used = time.monotonic(), cpu_seconds(process.pid)
            load = asyncio.run(run_clients(port, clients, requests, sign, seed))
            wall_s, cpu_s = time.monotonic() - started, cpu_seconds(process.pid) - used
            found.append(Round(load, wall_s, cpu_s, rss(process.pid)))
        return before, found


@contextmanager
def served(*command: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """Starts a server in a subprocess and yields it with its port once it is ready."""
    port = free_port()
    run = [sys.executable, "-m", "scripts.bench.serve", *command, "--port", str(port)]
    if command[0] == "serve":
        run = [sys.executable, "-m", "judge_r1.cli", *command, "--port", str(port)]
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


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def rss(process: int) -> int:
    """Resident memory of a process in bytes (Linux)."""
    [kib] = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(kib) * 1024


def cpu_seconds(process: int) -> float:
    """CPU seconds (user and system) that a process has used (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def batches(judge: str, pairs: list[dict[str, str]], repeat: int) -> dict[int, list[float]]:
    """Seconds for all pairs with a concurrency of 1 and of 16, by concurrency."""
    seconds: dict[int, list[float]] = {1: [], 16: []}
    with served("serve", "--judge", judge, "--max-concurrency", "16") as (_, port):
        judgments: dict[int, list[Any]] = {}
        with Client(f"http://127.0.0.1:{port}", concurrency=16) as warm:
            warm.many(pairs)  # indexes the cases; not timed
        for _ in range(repeat):
            for concurrency in seconds:
                with Client(f"http://127.0.0.1:{port}", concurrency=concurrency) as client:
                    started = time.monotonic()
                    answers = client.many(pairs)
                    seconds[concurrency].append(time.monotonic() - started)
                judgments[concurrency] = [_judgment(answer) for answer in answers]
            assert judgments[1] == judgments[16], "batching must not change judgments"
    return seconds


def _judgment(answer: Any) -> Any:
    assert isinstance(answer, JudgeResponse), answer
    return answer.comparison, answer.ended, answer.explanation, answer.searches, answer.violated_principles


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


def _pairs(path: Path, count: int) -> list[dict[str, str]]:
    found = load_pairs(path)
    return [
        {
            "context": found.cases[pair.case_id].context,
            "decision": found.cases[pair.case_id].decision,
            "reasoning_a": pair.reasoning_a,
            "reasoning_b": pair.reasoning_b,
            "domain": pair.domain,
        }
        for pair in found.pairs[:count]
    ]


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
    batch = commands.add_parser("batches")
    batch.add_argument("--judge", required=True)
    batch.add_argument("--path", type=Path, required=True)
    batch.add_argument("--pairs", "--games", type=int, default=64)
    batch.add_argument("--repeat", type=int, default=3)
    server = commands.add_parser("server", help="runs the server of `load` (internal)")
    server.add_argument("running", type=int)
    server.add_argument("waiting", type=int)
    server.add_argument("--port", type=int, required=True)
    given = parser.parse_args(arguments)
    if given.command == "server":
        _serve_echo(given.running, given.waiting, given.port)
    elif given.command == "load":
        _print_load(*rounds(given.clients, given.requests, given.rounds))
    else:
        pairs = _pairs(given.path, given.pairs)
        seconds = batches(given.judge, pairs, given.repeat)
        for concurrency, timings in seconds.items():
            rate = [len(pairs) / s for s in timings]
            spread = f"{min(rate):.2f} to {max(rate):.2f}"
            print(f"concurrency {concurrency:2}: {statistics.median(rate):.2f} pairs/s ({spread})")
        ratios = [one / many for one, many in zip(seconds[1], seconds[16], strict=True)]
        print(
            f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {len(pairs)} pairs each"
        )


if __name__ == "__main__":
    main()
