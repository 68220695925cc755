"""`build` with a teacher that is paid: its cache, its budget, its batches, and what to say when it stops."""

from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.build import build_by_teacher
from data_builders.run import Plan
from data_builders.stopping import run_stoppable
from data_builders.teachers import BudgetSpent, Pending, TeacherError
from data_builders.teachers.asking import open_teacher
from data_builders.teachers.batch import BatchExport, import_batch
from data_builders.teachers.cache import Cache
from data_builders.teachers.client import Limits
from data_builders.teachers.spec import parse_spec
from data_builders.teachers.spending import Spending, load_prices
from judge_r1.errors import JudgeError


@dataclass(frozen=True)
class Order:
    """Who is asked and who verifies (SPECs), how many calls at a time, for how much, and where answers are kept."""

    teacher: str
    verifier: str | None
    concurrency: int
    budget: float | None
    prices: Path | None
    cache: Path


@dataclass(frozen=True)
class Done:
    """`counts` is build.json, None where a batch file was written instead."""

    message: str
    counts: dict[str, Any] | None


def build(
    plan: Plan, out: Path, order: Order, *, batch_export: Path | None = None, batch_import: Path | None = None
) -> Done:
    """Build, or write the next batch. Errors: JudgeError, which says how to go on."""
    if batch_export and order.verifier:
        raise JudgeError(
            "--batch-export asks one teacher: run with --verify once the batches have brought all variants"
        )
    spending = Spending(load_prices(order.prices) if order.prices else None, order.budget)
    go_on = f"every answer that came is kept in {order.cache}; run the same command again to go on"
    notes = []
    with Cache(order.cache) as cache:
        if batch_import:
            taken = import_batch(parse_spec(order.teacher), cache, batch_import)
            failed = "".join(f"; {n} failed: {reason}" for reason, n in sorted(taken.failed.items()))
            notes.append(f"{batch_import}: {taken.kept} answers taken in, {taken.known} known already{failed}")
        try:
            if batch_export:
                return _export(plan, out, order, cache, batch_export, notes, go_on)
            counts = run_stoppable(_ask(plan, out, order, cache, spending), go_on)
        except BudgetSpent:
            raise
        except TeacherError as error:
            raise TeacherError(f"{error}; {go_on}") from error
    return Done("\n".join([*notes, spending.summary()]), counts)


def refuse_without_teacher(*options: object) -> None:
    """Errors: JudgeError for options that mean nothing to the rules."""
    if any(option is not None for option in options):
        raise JudgeError(
            "--verify, --budget, --prices, --cache and --batch-… go with a --teacher that is asked: chat:URL#MODEL or "
            "anthropic:MODEL"
        )


async def _ask(plan: Plan, out: Path, order: Order, cache: Cache, spending: Spending) -> dict[str, Any]:
    limits = Limits(concurrency=order.concurrency)
    async with AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(open_teacher(order.teacher, cache, limits=limits, spending=spending))
        verifier = None
        if order.verifier:
            opened = open_teacher(order.verifier, cache, limits=limits, spending=spending)
            verifier = await stack.enter_async_context(opened)
        return await build_by_teacher(
            plan, out, teacher, verifier=verifier, spending=spending, concurrency=order.concurrency
        )


def _export(plan: Plan, out: Path, order: Order, cache: Cache, path: Path, notes: list[str], go_on: str) -> Done:
    """Walk through the build with the answers there are; what is still to be asked goes into a batch file."""
    counts = None
    with BatchExport(parse_spec(order.teacher), cache, path) as teacher:
        building: Coroutine[Any, Any, dict[str, Any]] = build_by_teacher(plan, out, teacher)
        try:
            counts = run_stoppable(building, go_on)
        except Pending:
            files = ", ".join(str(file) for file in teacher.files)
            notes.append(
                f"{teacher.rows} asks are in {files}: give it to the batch service, then run the same command with "
                "--batch-import RESULTS"
            )
            if teacher.again:
                notes.append(f"{teacher.again} of them stand in an earlier batch whose results were not imported")
        else:
            notes.append(f"no ask is left: {path} was not written")
    return Done("\n".join(notes), counts)
