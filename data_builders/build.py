"""Builds a data set: runs a generator over its items and writes what it makes, in order.

The same plan and the same teachers' answers give the same bytes. A build that is stopped leaves the folder unchanged;
running it again resumes it, because the answers are in the cache.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from contextlib import aclosing
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from data_builders.dataset_type import write_files
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from data_builders.record_writer import open_writer
from data_builders.teachers import BatchPending, BudgetSpent, Teacher
from data_builders.teachers.budget import Spending
from judge_r1.core.text_check import counted
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, PairSet

T = TypeVar("T")
R = TypeVar("R")


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
