"""How the served judge bears a crowd, and what its batches are worth.

    python -m scripts.bench_serve load --clients 200 --requests 2000 --rounds 3
    python -m scripts.bench_serve batches --judge agentic@runs/demo/grpo/model --path runs/demo/data/test --games 64

`load` starts a server of its own (as `judge-r1 serve` runs it) around a judge whose games take 50 ms and whose
explanation is a hash of what it was asked, so that every answer can be checked against its request. Its clients send
small bodies, cases of 1 MB, bodies that drip in, and malformed ones; some hang up before the answer. Who is told 429
comes again after `Retry-After`. `batches` asks `judge-r1 serve` with a real model for the same pairs one at a time and
sixteen together; both must give the same judgments.
"""

import argparse
import asyncio
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
from judge_r1.core.records import Judgment, Trajectory
from judge_r1.core.wire import JudgeResponse
from judge_r1.episode.task import PairwiseTask
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest
from judge_r1.serving.middleware.body_limit import MIB
from judge_r1.serving.queue import RequestQueue
from judge_r1.serving.server import run_app
from judge_r1.serving.service import Service
from scripts.load_test_clients import Load, crowd

GAME_S = 0.05
CASES = 16 * MIB
"""What the cases of the loaded server may have: little, so that what else grows shows."""
REPO = Path(__file__).resolve().parents[1]


def sign(context: str, a: str, b: str) -> str:
    """What the echoing judge says of a request."""
    return sha256("\0".join([context, a, b]).encode()).hexdigest()


class Echo:
    """Says A, and a hash of what it was asked."""

    name = "echo"

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    def check(self, asks: Sequence[JudgeRequest]) -> None:
        pass

    async def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for ask in asks:
            await asyncio.sleep(GAME_S)
            question = ask.task
            assert isinstance(question, PairwiseTask)
            said = sign(question.context, question.reasoning_a, question.reasoning_b)
            judgment = Judgment.pairwise("A>B", (1,), said)
            trajectory = Trajectory.without_ids("answer", judgment=judgment)
            yield JudgeOutput(ask, trajectory, ask.read(trajectory))


@dataclass(frozen=True)
class Round:
    load: Load
    wall_s: float
    rss: int
    """Bytes of the server's memory after it."""


def rounds(clients: int, requests: int, count: int, *, running: int = 8, waiting: int = 64) -> tuple[int, list[Round]]:
    """The server's bytes before, and what came of each round against the same server."""
    with served("server", str(running), str(waiting)) as (process, port):
        before, found = rss(process.pid), []
        for seed in range(count):
            started = time.monotonic()
            load = asyncio.run(crowd(port, clients, requests, sign, seed))
            found.append(Round(load, time.monotonic() - started, rss(process.pid)))
        return before, found


@contextmanager
def served(*command: str) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A server of this script in a process of its own, and its port, when it is ready."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    run = [sys.executable, "-m", "scripts.bench_serve", *command, "--port", str(port)]
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


def rss(process: int) -> int:
    """Bytes of memory that a process holds now (Linux)."""
    [kib] = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(kib) * 1024


def batches(judge: str, pairs: list[dict[str, str]], repeat: int) -> dict[int, list[float]]:
    """Seconds for all pairs with one game and with sixteen under way, by that number."""
    seconds: dict[int, list[float]] = {1: [], 16: []}
    with served("serve", "--judge", judge, "--running", "16") as (_, port):
        said: dict[int, list[Any]] = {}
        with Client(f"http://127.0.0.1:{port}", concurrency=16) as warm:
            warm.many(pairs)  # indexes the cases, and is not counted
        for _ in range(repeat):
            for at_a_time in seconds:
                with Client(f"http://127.0.0.1:{port}", concurrency=at_a_time) as client:
                    started = time.monotonic()
                    answers = client.many(pairs)
                    seconds[at_a_time].append(time.monotonic() - started)
                said[at_a_time] = [_said(answer) for answer in answers]
            assert said[1] == said[16], "batched games must give the judgments of single ones"
    return seconds


def _said(answer: Any) -> Any:
    assert isinstance(answer, JudgeResponse), answer
    return answer.comparison, answer.ended, answer.explanation, answer.searches, answer.violated_principles


def _wait_until_ready(process: "subprocess.Popen[bytes]", port: int, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    with Client(f"http://127.0.0.1:{port}", attempts=1, seconds=5) as client:
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


def _tell_load(before: int, found: list[Round]) -> None:
    tell = Console(width=160).print
    tell(f"memory before: {before / MIB:.0f} MiB, of which no cases; they may have {CASES // MIB} MiB")
    for number, one in enumerate(found, 1):
        load = one.load
        q = statistics.quantiles(load.seconds, n=100)
        p = statistics.quantiles(load.patience, n=100)
        tell(f"round {number}: {one.wall_s:.1f} s, {sum(load.asked.values()) / one.wall_s:.0f} requests a second")
        tell(f"  asked {dict(load.asked)}; statuses {dict(sorted(load.statuses.items()))}")
        tell(f"  judged {load.judged}, vanished {load.vanished}, refused {load.refused}")
        tell(f"  lost {len(load.lost)}, crossed {len(load.crossed)}", *load.lost[:3], *load.crossed[:3])
        tell(
            f"  a small request: p50 {q[49]:.2f} s, p95 {q[94]:.2f} s; "
            f"any, with waits after 429: p50 {p[49]:.2f} s, p95 {p[94]:.2f} s"
        )
        tell(f"  memory after it: {one.rss / MIB:.0f} MiB")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    load = commands.add_parser("load")
    for name, default in {"clients": 200, "requests": 2000, "rounds": 3}.items():
        load.add_argument(f"--{name}", type=int, default=default)
    batch = commands.add_parser("batches")
    batch.add_argument("--judge", required=True)
    batch.add_argument("--path", type=Path, required=True)
    batch.add_argument("--games", type=int, default=64)
    batch.add_argument("--repeat", type=int, default=3)
    server = commands.add_parser("server", help="the server of `load`, which starts it")
    server.add_argument("running", type=int)
    server.add_argument("waiting", type=int)
    server.add_argument("--port", type=int, required=True)
    given = parser.parse_args(arguments)
    if given.command == "server":
        _serve_echo(given.running, given.waiting, given.port)
    elif given.command == "load":
        _tell_load(*rounds(given.clients, given.requests, given.rounds))
    else:
        pairs = _pairs(given.path, given.games)
        seconds = batches(given.judge, pairs, given.repeat)
        for at_a_time, took in seconds.items():
            rate = [len(pairs) / s for s in took]
            spread = f"{min(rate):.2f} to {max(rate):.2f}"
            print(f"{at_a_time:2} at a time: {statistics.median(rate):.2f} games a second ({spread})")
        ratios = [one / many for one, many in zip(seconds[1], seconds[16], strict=True)]
        print(
            f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), {len(pairs)} games each"
        )


if __name__ == "__main__":
    main()
