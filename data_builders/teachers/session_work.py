"""Work that asks paid teachers: their cache and budget, batches instead of calls, a clean stop, and how to go on."""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from data_builders.graceful_shutdown import Stopped, run_stoppable
from data_builders.teachers import BatchPending, BudgetSpent, Teacher, TeacherError
from data_builders.teachers.answer_cache import Cache
from data_builders.teachers.batch_api import BatchExport, import_batch
from data_builders.teachers.budget import Spending
from data_builders.teachers.cached_teacher import open_teacher
from data_builders.teachers.spec import find_key, parse_spec
from judge_r1.core.errors import JudgeError
from judge_r1.models.http_client import RetryPolicy

R = TypeVar("R")
Work = Callable[[Sequence[Teacher]], Coroutine[Any, Any, R]]
"""What is to be done with the teachers, in the order of their SPECs."""


@dataclass(frozen=True)
class Terms:
    """Where answers are kept, how many calls are made at a time, and the files of a batch service."""

    cache: Path
    concurrency: int = 8
    batch_export: Path | None = None
    batch_import: Path | None = None


@dataclass(frozen=True)
class Done(Generic[R]):
    """`result` is None where a batch file was written instead."""

    result: R | None
    message: str


def carry_out(specs: Sequence[str], work: Work[R], terms: Terms, spending: Spending) -> Done[R]:
    """Do the work, or write the next batch. Errors: JudgeError, which says how to go on."""
    if terms.batch_export and len(specs) > 1:
        raise JudgeError(
            "--batch-export asks one teacher: run with --verify once the batches have brought all variants"
        )
    for spec in specs:
        wire = parse_spec(spec)
        if not terms.batch_export:
            find_key(wire)
    go_on = f"every answer that came is kept in {terms.cache}; run the same command again to go on"
    with Cache(terms.cache) as cache:
        notes = [_taken_in(specs[0], cache, terms.batch_import)] if terms.batch_import else []
        try:
            if terms.batch_export:
                result, said = _exported(specs[0], work, cache, terms.batch_export, go_on)
            else:
                result = run_stoppable(_asked(specs, work, cache, terms.concurrency, spending), go_on)
                said = [spending.summary()]
        except (BudgetSpent, Stopped):
            raise
        except TeacherError as error:
            raise TeacherError(f"{error}; {go_on}") from error
        except JudgeError as error:
            if spending.refusals:  # why nothing came of the answers: there were none
                raise JudgeError(f"{error}; {spending.refusals}") from error
            raise
    return Done(result, "\n".join([*notes, *said]))


async def _asked(specs: Sequence[str], work: Work[R], cache: Cache, concurrency: int, spending: Spending) -> R:
    limits = RetryPolicy(concurrency=concurrency)
    async with AsyncExitStack() as stack:
        opened = [open_teacher(spec, cache, limits=limits, spending=spending) for spec in specs]
        return await work([await stack.enter_async_context(teacher) for teacher in opened])


def _exported(spec: str, work: Work[R], cache: Cache, path: Path, go_on: str) -> tuple[R | None, list[str]]:
    """Walk through the work with the answers there are; what is still to be asked goes into a batch file."""
    with BatchExport(parse_spec(spec), cache, path) as teacher:
        try:
            return run_stoppable(work([teacher]), go_on), [f"no ask is left: {path} was not written"]
        except BatchPending:
            files = ", ".join(str(file) for file in teacher.files)
    notes = [
        f"{teacher.rows} asks are in {files}: give it to the batch service, then run the same command with "
        "--batch-import RESULTS"
    ]
    if teacher.again:
        notes.append(f"{teacher.again} of them stand in an earlier batch whose results were not imported")
    return None, notes


def _taken_in(spec: str, cache: Cache, path: Path) -> str:
    taken = import_batch(parse_spec(spec), cache, path)
    failed = "".join(f"; {count} failed: {reason}" for reason, count in sorted(taken.failed.items()))
    return f"{path}: {taken.kept} answers taken in, {taken.known} known already{failed}"
