"""Builds a data set: runs a generator over its items and writes what it makes, in order.

The same plan and the same teachers' answers give the same bytes. A build that is stopped leaves the folder unchanged;
running it again resumes it, because the answers are in the cache.

The files are written side by side and appear together at the end, or not at all. Memory does not grow with the data,
except for one id per group.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from data_builders.dataset_type import RecordCounts, RecordFile, write_files
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from data_builders.progress import TIMING_FILE, BuildCounts, run_timing
from data_builders.teachers import BatchPending, BudgetSpent, Teacher
from data_builders.teachers.budget import Spending
from judge_r1.core.errors import JudgeError
from judge_r1.core.progress import watch_progress
from judge_r1.core.record_base import Record
from judge_r1.core.text_check import counted
from judge_r1.files.file_lock import lock_folder
from judge_r1.files.jsonl import AtomicFiles, dump_json, dump_line, write_json
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, PairSet

T = TypeVar("T")
R = TypeVar("R")


class RecordWriter:
    """Writes the groups of one build. `report` is set at the end of the build."""

    def __init__(self, generator: Generator[Any], out: Path, files: AtomicFiles, counts: BuildCounts) -> None:
        self._generator, self._out, self._files, self.counts = generator, out, files, counts
        self._file_of: dict[type[Record], RecordFile[Any]] = {file.record: file for file in generator.files}
        self._counts = {file.file: RecordCounts(file) for file in generator.files}
        self._seen: set[str] = set()
        self.report: dict[str, Any] = {}

    @property
    def groups(self) -> int:
        return len(self._seen)

    def add(self, group: RecordGroup) -> None:
        """Write a group; skip and count it if its first record was written before."""
        lead, *others = group.records
        file = self._file_of[type(lead)]
        if file.id_of(lead) in self._seen:
            self._generator.skipped[f"{self._generator.title}: the same {file.noun} again"] += 1
            self.counts.item_done(0)
            return
        self._seen.add(file.id_of(lead))
        self._write(lead)
        made, ids = 0, set[tuple[str, str]]()
        for record in others:
            file = self._file_of[type(record)]
            key = (file.file, file.id_of(record))
            if key in ids:
                self._generator.abstained[f"the {file.noun} stands there already"] += 1
                continue
            ids.add(key)
            self._write(record)
            made += file == self._generator.dataset.main
        self._generator.add(group)
        self.counts.item_done(made)

    def finish(self) -> None:
        """Write the report. Raises: JudgeError if the main file is empty."""
        if not self._counts[self._generator.dataset.main.file].total:
            raise JudgeError(self._generator.why_empty(self.groups))
        self.report = self._generator.report([c for c in self._counts.values() if not c.file.optional])
        self._files.write(self._out / self._generator.report_file, dump_json(self.report))

    def _write(self, record: Record) -> None:
        file, record = self._file_of[type(record)], self._generator.finalize(record)
        self._files.write(self._out / file.file, dump_line(record))
        self._counts[file.file].add(record)


@contextmanager
def open_writer(generator: Generator[Any], out: Path, spending: Spending | None = None) -> Iterator[RecordWriter]:
    """A writer whose files and report appear together at the end of the block, followed by timing.json.

    Raises: JudgeError if another process writes to `out`, or nothing was generated.
    """
    started = time.monotonic()
    total = generator.count()
    read_seconds = time.monotonic() - started
    targets = [out / name for name in (*(file.file for file in generator.files), generator.report_file)]
    with lock_folder(out):
        counts = BuildCounts(total, generator.dataset.main.plural, lambda: generator.answers, spending)
        with (
            AtomicFiles(*targets) as files,
            watch_progress(f"{generator.title}, {generator.files[0].plural}", counts.done),
        ):
            writer = RecordWriter(generator, out, files, counts)
            yield writer
            writer.finish()
        for file in generator.dataset.files:
            if file not in generator.files:  # an optional file of an earlier build
                (out / file.file).unlink(missing_ok=True)
        timing = {"read_seconds": round(read_seconds, 2)} | run_timing(started)
        write_json(out / TIMING_FILE, timing | ({"spending": spending.as_dict()} if spending else {}))


def build(source: str, out: Path, **options: Any) -> dict[str, Any]:
    """Build without a teacher. Writes the generator's files, build.json (counts, returned) and timing.json.

    `source` is a corpus, of which pairs are built by rules, or a generator. `options` are those of `BuildPlan`.
    """
    plan = BuildPlan.model_validate({"source": source, **options})
    return build_by_rules(generator_for(source, with_teacher=False)(plan), out)


def build_by_rules(generator: Generator[Any], out: Path) -> dict[str, Any]:
    """Run a generator that needs no teacher. Returns the build report."""
    with open_writer(generator, out) as writer:
        for item in generator.items():
            group = generator.generate(item)
            assert not isinstance(group, Awaitable), f"{generator.name} must set needs_teacher"
            if group is not None:
                writer.add(group)
    return writer.report


async def build_by_teacher(
    plan: BuildPlan,
    out: Path,
    teacher: Teacher,
    *,
    verifier: Teacher | None = None,
    spending: Spending | None = None,
    concurrency: int = 8,
) -> dict[str, Any]:
    """Build with a teacher that takes `concurrency` calls at a time. A verifier adds opinions.jsonl to pairs.

    Raises: the teachers' errors; BatchPending, after the last item, if a teacher has deferred requests. Nothing is
    written then.
    """
    teachers = [teacher, *([verifier] if verifier else [])]
    generator = generator_for(plan.source, with_teacher=True)(plan, teachers)
    return await build_concurrently(generator, out, spending=spending, concurrency=concurrency)


async def build_concurrently(
    generator: Generator[Any], out: Path, *, spending: Spending | None = None, concurrency: int = 8
) -> dict[str, Any]:
    """Run a generator with teachers. Returns the build report. Raises: as `build_by_teacher`."""
    with open_writer(generator, out, spending) as writer:
        groups = generate(generator, concurrency=concurrency)
        # Closed here: an error of the writer ends the items in progress, too.
        async with aclosing(groups):
            async for group in groups:
                if group is not None:
                    writer.add(group)
                elif generator.wanted is None:
                    writer.counts.item_done(0)
    return writer.report


async def generate(generator: Generator[Any], *, concurrency: int = 8) -> AsyncGenerator[RecordGroup | None, None]:
    """The groups of a generator in the order of its items; None for an item without one.

    Starts no more items than groups are still wanted, and the first `generator.trial` items before any other. Raises:
    BatchPending after the last item; JudgeError if nothing is made of the first items.
    """

    async def work(item: Any) -> RecordGroup | BatchPending | None:
        try:
            group: RecordGroup | None = await generator.generate(item)  # type: ignore[misc]
            return group
        except BatchPending as pending:
            return pending

    items, made, kept, pending, tried, exhausted, trial = generator.items(), 0, 0, 0, 0, False, generator.trial
    main = generator.dataset.main.record
    while not exhausted:
        missing = generator.missing(made, pending)
        if missing == 0:
            break
        started, most = 0, min(filter(None, (trial, missing)), default=None)
        results = in_order(generator.take(items, most), work, generator.items_in_progress * concurrency)
        try:
            async with aclosing(results):
                async for result in results:
                    started += 1
                    made += isinstance(result, RecordGroup)
                    pending += isinstance(result, BatchPending)
                    if isinstance(result, RecordGroup) and not pending:  # nothing is written while any is deferred
                        result = await generator.choose(result)
                        kept += sum(isinstance(record, main) for record in result.records)
                    yield result if isinstance(result, RecordGroup) else None
        except BudgetSpent as spent:
            if not kept or not generator.ends_with(spent):
                raise
            break
        exhausted, tried = most is None or started < most, tried + started
        if tried >= trial:
            if trial and not exhausted and not (generator.attempts.used if pending else kept):
                generator.check_trial(tried)
            trial = 0
    if pending:
        names = ", ".join(teacher.name for teacher in generator.teachers[:1])
        raise BatchPending(f"{counted(pending, generator.files[0].noun)} waiting for answers of {names}")


async def in_order(
    items: Iterator[T], work: Callable[[T], Coroutine[Any, Any, R]], ahead: int
) -> AsyncGenerator[R, None]:
    """Yield `work(item)` for each item, in order. At most `ahead` items are read, in progress or waiting to be yielded.

    Items are read in a thread. An error of `work` is raised in its turn. It cancels the items in progress, and so does
    closing the generator.
    """
    tasks: deque[asyncio.Task[R]] = deque()
    more = True
    try:
        while more or tasks:
            free = ahead - len(tasks)
            if more and free:
                read: list[T] = await asyncio.to_thread(list, islice(items, free))
                more = len(read) == free
                tasks.extend(asyncio.create_task(work(item)) for item in read)
            if tasks:
                yield await tasks.popleft()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def write_pairs(data: PairSet, out: Path) -> None:
    """Write a pair set as a folder that `load_pairs` reads."""
    write_files(out, {CASES_FILE: data.cases.values(), PAIRS_FILE: data.pairs})
