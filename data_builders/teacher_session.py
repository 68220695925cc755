"""Runs work that asks teachers: opens the cache, keeps to the budget, writes and reads batches, and stops cleanly on a
signal: the first one waits for the calls in flight, the second one ends at once."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import Field

from data_builders.teachers import BatchPending, BudgetSpent, Teacher, TeacherError
from data_builders.teachers.answer_cache import Cache, Tokens
from data_builders.teachers.batch_api import CHARACTERS_PER_TOKEN, BatchExport, check_results, import_batch
from data_builders.teachers.budget import Spending, load_prices
from data_builders.teachers.cached_teacher import open_teacher
from data_builders.teachers.local import check_model
from data_builders.teachers.spec import parse_spec
from judge_r1.core.endpoint import RetryPolicy, find_key
from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import are, counted
from judge_r1.files.yaml_config import ConfigModel

R = TypeVar("R")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(JudgeError):
    """The run was ended by a signal."""


def run_stoppable(main: Coroutine[Any, Any, R], how_to_resume: str) -> R:
    """Like `asyncio.run`, but Ctrl-C or SIGTERM cancels `main`, which may still wait for calls in flight, because they
    are paid for. The next signal ends the process at once. Raises: Stopped."""
    stopped = False

    async def stoppable() -> R:
        loop, task = asyncio.get_running_loop(), asyncio.create_task(main)

        def stop() -> None:
            nonlocal stopped
            stopped = True
            print("stopping after the calls in flight; a second Ctrl-C stops at once", file=sys.stderr, flush=True)
            for number in SIGNALS:
                loop.remove_signal_handler(number)
            task.cancel()

        for number in SIGNALS:
            loop.add_signal_handler(number, stop)
        try:
            return await task
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    try:
        return asyncio.run(stoppable())
    except asyncio.CancelledError:
        if stopped:
            raise Stopped(f"stopped: {how_to_resume}") from None
        raise


S = TypeVar("S", bound="SessionOptions")
Work = Callable[[Sequence[Teacher]], Coroutine[Any, Any, R]]
"""The work, given the teachers in the order of their SPECs."""


class SessionOptions(ConfigModel):
    """How a command asks its teachers."""

    concurrency: int = Field(8, ge=1, description="concurrent calls to a teacher")
    budget: float | None = Field(None, ge=0, description="USD; the command stops before it spends more")
    prices: Path | None = Field(None, description="YAML: MODEL: {input: USD, output: USD} per 1M tokens")
    cache: Path | None = Field(None, description="file of all answers; default: OUT/answers.sqlite")
    batch_export: Path | None = Field(
        None, description="file for the requests to a batch service, instead of sending them"
    )
    batch_import: Path | None = Field(None, description="results of a batch service, which are taken in first")

    def in_folder(self: S, out: Path) -> S:
        """These options with the cache that they have for the folder `out`."""
        return self.model_copy(update={"cache": self.cache or out / "answers.sqlite"})

    def spending(self) -> Spending:
        """Counts what is spent. Raises: TeacherError for a budget without prices, or for unreadable prices."""
        return Spending(load_prices(self.prices) if self.prices else None, self.budget)


@dataclass(frozen=True)
class SessionResult(Generic[R]):
    """`value` is None if a batch file was written instead. `message` is for the user."""

    value: R | None
    message: str


def run_session(specs: Sequence[str], work: Work[R], options: SessionOptions, spending: Spending) -> SessionResult[R]:
    """Run the work, or write the next batch. Raises: JudgeError, which says how to resume."""
    assert options.cache is not None, "in_folder sets it"
    if options.batch_export or options.batch_import:
        parse_spec(specs[0]).at_endpoint(None)
    for spec in specs:
        _check(spec, spending, with_key=not options.batch_export)
    if options.batch_import:
        check_results(options.batch_import, options.cache)
    how_to_resume = f"every answer so far is stored in {options.cache}, and the same command resumes"
    with Cache(options.cache) as cache:
        notes = [_import(specs[0], cache, options.batch_import)] if options.batch_import else []
        try:
            if options.batch_export:
                value, messages = _export(specs[0], work, cache, options.batch_export, how_to_resume, spending)
            else:
                value = run_stoppable(_run_live(specs, work, cache, options.concurrency, spending), how_to_resume)
                messages = [spending.summary()]
        except BudgetSpent:
            raise
        except Stopped as error:
            raise Stopped(f"{error}{spending.paid}") from None
        except TeacherError as error:
            raise TeacherError(f"{error}; {how_to_resume}{spending.paid}") from error
        except JudgeError as error:
            if spending.refusals:  # the likely cause of an empty build
                raise JudgeError(f"{error}; {spending.refusals}") from error
            raise
    return SessionResult(value, "\n".join([*notes, *messages]))


def _check(spec: str, spending: Spending, *, with_key: bool) -> None:
    """Check a SPEC and its price before any file is written. Raises: JudgeError."""
    found = parse_spec(spec)
    if found.endpoint is None:
        check_model(found.backend)
        return
    spending.price_of(found.name)
    if with_key:
        find_key(found.endpoint)


async def _run_live(specs: Sequence[str], work: Work[R], cache: Cache, concurrency: int, spending: Spending) -> R:
    policy = RetryPolicy(concurrency=concurrency)
    async with AsyncExitStack() as stack:
        opened = [open_teacher(spec, cache, policy=policy, spending=spending) for spec in specs]
        return await work([await stack.enter_async_context(teacher) for teacher in opened])


def _export(
    spec: str, work: Work[R], cache: Cache, path: Path, how_to_resume: str, spending: Spending
) -> tuple[R | None, list[str]]:
    """Run the work on cached answers; requests without an answer go into a batch file."""
    with BatchExport(parse_spec(spec).at_endpoint(None), cache, path) as teacher:
        spending.open_account(teacher.name, cache.tokens(teacher.name))
        try:
            return run_stoppable(work([teacher]), how_to_resume), [f"no request is left: {path} was not written"]
        except BatchPending:
            files = ", ".join(str(file) for file in teacher.files)
    notes = [
        f"{counted(teacher.rows, 'request')} {are(teacher.rows)} in {files}: give it to the batch service, then run "
        "the same command with batch_import=RESULTS",
        _size(teacher, spending),
    ]
    if teacher.repeated:
        notes.append(f"{teacher.repeated} of them are in an earlier batch whose results were not imported")
    return None, notes


def _size(teacher: BatchExport, spending: Spending) -> str:
    most = teacher.most
    account = spending.accounts()[teacher.name]
    read, whole = account.cost(Tokens(input=most.input)), account.cost(most)
    cost = "add prices=FILE for the cost"
    if read is not None and whole is not None:
        cost = f"${read:.2f} for the input, at most ${whole:.2f} in all, at the prices given (no discount for batches)"
    return (
        f"about {most.input:,} tokens in ({CHARACTERS_PER_TOKEN} characters each), at most {most.output:,} out "
        f"(max_tokens): {cost}"
    )


def _import(spec: str, cache: Cache, path: Path) -> str:
    imported = import_batch(parse_spec(spec).at_endpoint(None), cache, path)
    failed = "".join(f"; {count} failed: {reason}" for reason, count in sorted(imported.failed.items()))
    return f"{path}: {counted(imported.new, 'answer')} imported, {imported.known} known already{failed}"
