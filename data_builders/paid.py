"""`build` with teachers that are paid."""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.build import build_by_teacher
from data_builders.paid_work import Terms, carry_out
from data_builders.run import Plan
from data_builders.teachers import Teacher
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
    spending = Spending(load_prices(order.prices) if order.prices else None, order.budget)

    def work(teachers: Sequence[Teacher]) -> Coroutine[Any, Any, dict[str, Any]]:
        verifier = teachers[1] if order.verifier else None
        return build_by_teacher(
            plan, out, teachers[0], verifier=verifier, spending=spending, concurrency=order.concurrency
        )

    specs = [order.teacher, *([order.verifier] if order.verifier else [])]
    terms = Terms(order.cache, order.concurrency, batch_export, batch_import)
    done = carry_out(specs, work, terms, spending)
    return Done(done.message, done.result)


def refuse_without_teacher(*options: object) -> None:
    """Errors: JudgeError for options that mean nothing to the rules."""
    if any(option is not None for option in options):
        raise JudgeError(
            "--verify, --budget, --prices, --cache and --batch-… go with a --teacher that is asked: chat:URL#MODEL or "
            "anthropic:MODEL"
        )
