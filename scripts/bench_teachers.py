"""How many teacher answers a second our own work allows: cache, gate and accounts, with and without HTTP.

    python scripts/bench_teachers.py --asks 2000

The teacher answers at once, so that what is measured is overhead; asks and answers have the size of real ones (a case
of a few thousand words in, five variants of a reasoning out). Every answer is on disk before it is counted. CPU time is
that of this process: on a shared machine it says more than the clock.
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
from judge_r1.models.http_client import RetryPolicy

ROOT = Path(__file__).resolve().parents[1]
QUESTION, REPLY = "context " * 3_000, "reasoning " * 800
AT_A_TIME = 16


def brain(system: str, user: str, sample: int) -> str:
    return REPLY


@dataclass(frozen=True)
class Rate:
    """Answers a second by the clock, and milliseconds of CPU for each."""

    per_s: float
    cpu_ms: float

    def __str__(self) -> str:
        return f"{self.per_s:,.0f}/s ({self.cpu_ms:.2f} ms of CPU each)"


class AtOnce:
    """A teacher in this process that needs no time."""

    name = "stub:at-once"

    async def ask(self, ask: TeacherRequest) -> TeacherReply:
        return TeacherReply(text=REPLY, input_tokens=4_000, output_tokens=1_000, finished=True, model="stub")


async def rate(teacher: CachedTeacher, count: int) -> Rate:
    """Over `count` different asks."""
    asks = (
        TeacherRequest(system="You break reasonings.", user=f"{n} {QUESTION}", max_tokens=4_000) for n in range(count)
    )

    async def some() -> None:
        for ask in asks:
            await teacher.ask(ask)

    started, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(some() for _ in range(AT_A_TIME)))
    return Rate(count / (time.perf_counter() - started), 1_000 * (time.process_time() - used) / count)


async def in_process(folder: Path, count: int) -> tuple[Rate, Rate]:
    with Cache(folder / "in-process.sqlite") as cache:
        teacher = CachedTeacher(AtOnce(), cache, ConcurrencyGate(Spending(), AT_A_TIME))
        return await rate(teacher, count), await rate(teacher, count)


async def over_http(folder: Path, count: int) -> tuple[Rate, Rate]:
    command = [sys.executable, str(ROOT / "tests" / "support" / "fake_llm_server.py"), "scripts.bench_teachers:brain"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        assert server.stdout is not None
        try:
            spec = f"chat:{server.stdout.readline().strip()}/v1#stub"
            with Cache(folder / "http.sqlite") as cache:
                async with open_teacher(spec, cache, limits=RetryPolicy(concurrency=AT_A_TIME)) as teacher:
                    return await rate(teacher, count), await rate(teacher, count)
        finally:
            server.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--asks", type=int, default=2_000)
    options = parser.parse_args()
    print(f"{options.asks} asks of {len(QUESTION):,} characters, answers of {len(REPLY):,}, {AT_A_TIME} at a time")
    for name, measure in (("in process", in_process), ("over HTTP on 127.0.0.1", over_http)):
        with TemporaryDirectory() as folder:
            new, kept = asyncio.run(measure(Path(folder), options.asks))
        print(f"{name}: new answers {new}; again, from the cache {kept}")


if __name__ == "__main__":
    main()
