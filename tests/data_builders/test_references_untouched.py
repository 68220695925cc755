"""Builds by rules and by a teacher leave references as the source has them, byte for byte."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from fake_teacher import honest
from source_factories import FunctionTeacher

from data_builders.build import build_by_rules, build_by_teacher
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from data_builders.sources import SOURCES
from judge_r1.core.records import Case
from judge_r1.files.pair_set import load_pairs

FOLDERS = {
    "medrbench": "medical_medrbench",
    "echr": "legal_echr_argmining",
    "f1000rd": "academic_f1000rd",
    "elife": "academic_elife",
}


def teacher() -> FunctionTeacher:
    return FunctionTeacher(lambda request: honest(request.system, request.user, request.sample))


def check(cases: list[Case], out: Path) -> None:
    """Every case of the build is that of the source, and every better reasoning its reference."""
    built = load_pairs(out)
    assert list(built.cases.values()) == cases
    assert len(built.pairs) > 0
    for pair in built.pairs:
        assert pair.reference == built.cases[pair.case_id].reference


def read(plan: BuildPlan) -> list[Case]:
    source = SOURCES.get(plan.source)
    return list(source.read(plan.path, plan.limit, plan.seed, Counter()))


@pytest.mark.parametrize(
    "plan",
    [BuildPlan(source="builtin", limit=3), BuildPlan(source="mini", limit=3)],
    ids=["builtin", "mini"],
)
def test_shipped_cases(plan: BuildPlan, tmp_path: Path) -> None:
    build_by_rules(generator_for(plan.source, with_teacher=False)(plan), tmp_path / "rules")
    check(read(plan), tmp_path / "rules")
    asyncio.run(build_by_teacher(plan, tmp_path / "teacher", teacher()))
    check(read(plan), tmp_path / "teacher")


@pytest.mark.real_data
@pytest.mark.parametrize("source", FOLDERS)
def test_real_corpora(source: str, real_data: Path, tmp_path: Path) -> None:
    plan = BuildPlan(source=source, path=real_data / FOLDERS[source], variants=2, limit=6)
    build_by_rules(generator_for(source, with_teacher=False)(plan), tmp_path / "rules")
    check(read(plan), tmp_path / "rules")
    few = BuildPlan(source=source, path=real_data / FOLDERS[source], kinds=["single"], variants=1, limit=2)
    asyncio.run(build_by_teacher(few, tmp_path / "teacher", teacher()))
    check(read(few), tmp_path / "teacher")
