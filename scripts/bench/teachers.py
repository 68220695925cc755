"""Measures the overhead of a teacher call: cache, concurrency limit and cost accounting, with and without HTTP.

    python -m scripts.bench.teachers --requests 2000

The teacher answers instantly, so the result is pure overhead. Requests and answers have realistic sizes: a case of a
few thousand words in, five variants of a reasoning out. Every answer is on disk before it counts. The CPU time of this
process is also reported, since it varies less on a shared machine than wall time.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from data_builders.teachers import TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import Cache
from data_builders.teachers.budget import Spending
from data_builders.teachers.cached_teacher import CachedTeacher, ConcurrencyGate, open_teacher
from judge_r1.core.endpoint import RetryPolicy

ROOT = Path(__file__).resolve().parents[2]
PROMPT, REPLY = "context " * 3_000, "reasoning " * 800
CONCURRENCY = 16


def answer(system: str, user: str, sample: int) -> str:
    return REPLY


@dataclass(frozen=True)
class Rate:
    """Answers per second of wall time, and CPU milliseconds per answer."""

    per_s: float
    cpu_ms: float

    def __str__(self) -> str:
        return f"{self.per_s:,.0f}/s ({self.cpu_ms:.2f} ms CPU each)"


class InstantTeacher:
    """An in-process teacher without delay."""

    name = "stub:at-once"

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        return TeacherReply(text=REPLY, input_tokens=4_000, output_tokens=1_000, finished=True, model="stub")


async def rate(teacher: CachedTeacher, count: int) -> Rate:
    """Sends `count` distinct requests."""
    requests = (
        TeacherRequest(system="You break reasonings.", user=f"{n} {PROMPT}", max_tokens=4_000) for n in range(count)
    )

    async def worker() -> None:
        for request in requests:
            await teacher.ask(request)

    started, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
    return Rate(count / (time.perf_counter() - started), 1_000 * (time.process_time() - used) / count)


async def in_process(folder: Path, count: int) -> tuple[Rate, Rate]:
    with Cache(folder / "in-process.sqlite") as cache:
        teacher = CachedTeacher(InstantTeacher(), cache, ConcurrencyGate(Spending(), CONCURRENCY))
        return await rate(teacher, count), await rate(teacher, count)


async def over_http(folder: Path, count: int) -> tuple[Rate, Rate]:
    command = [sys.executable, str(ROOT / "tests" / "support" / "fake_llm_server.py"), "scripts.bench.teachers:answer"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            spec = f"chat:{server.stdout.readline().strip()}/v1#stub"
            with Cache(folder / "http.sqlite") as cache:
                async with open_teacher(spec, cache, policy=RetryPolicy(concurrency=CONCURRENCY)) as teacher:
                    return await rate(teacher, count), await rate(teacher, count)
        finally:
            server.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", "--asks", type=int, default=2_000)
    options = parser.parse_args()
    print(
        f"{options.requests} requests of {len(PROMPT):,} characters, answers of {len(REPLY):,}; "
        f"concurrency {CONCURRENCY}"
    )
    for name, measure in (("in process", in_process), ("over HTTP on 127.0.0.1", over_http)):
        with TemporaryDirectory() as folder:
            new, cached = asyncio.run(measure(Path(folder), options.requests))
        print(f"{name}: new answers {new}; cached answers {cached}")


if __name__ == "__main__":
    main()
