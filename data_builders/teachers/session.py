"""`build` with teachers that are paid."""

from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from data_builders.build import build_by_teacher
from data_builders.pair_writer import BuildPlan
from data_builders.teachers import Teacher
from data_builders.teachers.budget import Spending
from data_builders.teachers.session_work import Done, Terms, carry_out
from judge_r1.core.errors import JudgeError


def build(
    plan: BuildPlan, out: Path, teacher: str, verifier: str | None, terms: Terms, spending: Spending
) -> Done[dict[str, Any]]:
    """Build, which results in build.json, or write the next batch; `teacher` is asked and `verifier` verifies (SPECs).

    Errors: JudgeError, which says how to go on.
    """

    def work(teachers: Sequence[Teacher]) -> Coroutine[Any, Any, dict[str, Any]]:
        second = teachers[1] if verifier else None
        return build_by_teacher(
            plan, out, teachers[0], verifier=second, spending=spending, concurrency=terms.concurrency
        )

    return carry_out([teacher, *([verifier] if verifier else [])], work, terms, spending)


def refuse_without_teacher(*options: object) -> None:
    """Errors: JudgeError for options that mean nothing to the rules."""
    if any(option is not None for option in options):
        raise JudgeError(
            "--verify, --budget, --prices, --cache and --batch-… go with a --teacher that is asked: chat:URL#MODEL or "
            "anthropic:MODEL"
        )
