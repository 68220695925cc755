"""Builds the first cases of a corpus to look at, and estimates tokens, cost and time of the whole corpus.

A teacher's answers go into the cache of the build, so they are paid for once.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from data_builders.build import build_by_rules, build_by_teacher
from data_builders.build_recipe import BuildRecipe
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from data_builders.generators.pairs_by_teacher import wanted_sets
from data_builders.prompts.pair_prompts import PairPrompts
from data_builders.sources import SOURCES
from data_builders.teacher_session import run_session
from data_builders.teachers import Teacher
from judge_r1.core.records import Case
from judge_r1.files.pair_set import PairSet, load_pairs


@dataclass(frozen=True)
class Estimate:
    """What a teacher was asked for the cases of a preview, and what it will be asked for all of them."""

    teacher: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None


@dataclass(frozen=True)
class Preview:
    """The data and the report of the first cases. `total` counts the cases of the corpus. `used` and `whole` have a row
    for each teacher. `seconds` is the time for all cases, None if every answer came from the cache."""

    data: PairSet
    report: dict[str, Any]
    total: int
    used: Sequence[Estimate]
    whole: Sequence[Estimate]
    seconds: float | None


def preview_by_rules(plan: BuildPlan, cases: int) -> Preview:
    """Build the first cases by rules."""
    make = generator_for(plan.source, with_teacher=False)
    total = make(plan).count()
    with TemporaryDirectory() as folder:
        started = time.monotonic()
        report = build_by_rules(make(_first(plan, cases)), Path(folder))
        seconds = (time.monotonic() - started) / report["cases"] * total
        return Preview(load_pairs(Path(folder)), report, total, (), (), seconds)


def preview_by_teacher(recipe: BuildRecipe, cases: int) -> Preview:
    """Build the first cases with the teacher and verifier of a recipe. Raises: as a build."""
    spending = recipe.spending()
    with TemporaryDirectory() as folder:

        async def work(teachers: Sequence[Teacher]) -> tuple[dict[str, Any], int]:
            total = generator_for(recipe.source, with_teacher=True)(recipe, teachers).count()
            report = await build_by_teacher(
                _first(recipe, cases),
                Path(folder),
                teachers[0],
                verifier=teachers[1] if recipe.verify else None,
                spending=spending,
                concurrency=recipe.concurrency,
            )
            return report, total

        done = run_session(recipe.specs, work, recipe, spending).value
        assert done is not None  # no batch file was asked for
        report, total = done
        data = load_pairs(Path(folder))
    # an item that the teacher could not complete to a case has taken its calls, too
    factor, used, seconds = cases_to_build(recipe, report, total) / min(cases, total), list[Estimate](), 0.0
    for name, account in spending.accounts().items():
        tokens = account.run + account.reused
        used.append(Estimate(name, tokens.calls, tokens.input, tokens.output, account.cost(tokens)))
        if account.run.calls:
            seconds += account.seconds / account.run.calls * tokens.calls * factor / recipe.concurrency
    whole = [
        Estimate(
            one.teacher,
            round(one.calls * factor),
            round(one.input_tokens * factor),
            round(one.output_tokens * factor),
            None if one.usd is None else one.usd * factor,
        )
        for one in used
    ]
    return Preview(data, report, total, used, whole, seconds or None)


def example_prompt(plan: BuildPlan) -> list[str]:
    """The lines that a teacher would be asked for the first case of a corpus: the request for P1."""
    case = next(iter(first_cases(plan, 1)), None)
    if case is None:
        return []
    system, user = PairPrompts(plan.prompts).single(case, 1, range(1, plan.variants + 1))
    return f"{system}\n\n{user}".split("\n")


def first_cases(plan: BuildPlan, count: int) -> list[Case]:
    """The first cases of a corpus as they are built; none of a corpus whose cases a teacher completes."""
    if SOURCES.get(plan.source).drafts is not None:
        return []
    return list(generator_for(plan.source, with_teacher=False)(_first(plan, count)).items())


def cases_to_build(plan: BuildPlan, report: Mapping[str, Any], total: int) -> int:
    """How many cases a build takes: all, or at the rate of a preview those that bring `per_principle` pairs."""
    if plan.per_principle is None:
        return total
    rates = [report["by_set"].get(name, 0) / report["cases"] for name in wanted_sets(plan)]
    return min(total, max(math.ceil(plan.per_principle / rate) if rate else total for rate in rates))


def _first(plan: BuildPlan, cases: int) -> BuildPlan:
    return plan.model_copy(update={"limit": min(cases, plan.limit or cases), "per_principle": None})
