"""Variants that a person wrote, as a strong teacher would: one natural sentence is wrong. None of them is rejected."""

import asyncio
from collections import Counter

import pytest
from source_factories import FunctionTeacher

from data_builders.perturb.teacher.generate import VariantStats, perturb_by_teacher
from data_builders.sources import SOURCES
from judge_r1.core.records import Case

MEDICAL, LEGAL, ACADEMIC = "43c1f273b3b43572", "9a9379ce0b082558", "f024682eddc194e2"
WRITTEN = [
    (1, MEDICAL, "because it leaves ACTH low and the skin pale", "because it leaves ACTH high and the skin dark"),
    (2, MEDICAL, "A morning cortisol of 62 nmol/L", "A morning cortisol of 162 nmol/L"),
    (
        3,
        LEGAL,
        "because Mr Pellman was not a suspect,",
        "because Mr Pellman, as the owner of a firm, has a name to lose that his drivers have not,",
    ),
    (4, LEGAL, "the reports were given orally, but", "the reports were given orally at a meeting each Monday, but"),
    (
        5,
        ACADEMIC,
        "so agreement should be reported for positives and negatives apart.",
        "so the authors should look at the labels again in one way or another.",
    ),
    (
        6,
        MEDICAL,
        "levothyroxine must not be started before, because it speeds up the loss of what cortisol is left and may "
        "bring on a crisis.",
        "levothyroxine can be started on the same day, because exhaustion and a high TSH call for it whatever the "
        "cortisol may be.",
    ),
]


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    return {case.case_id: case for case in SOURCES.get("builtin").read(None, None, 0, Counter())}


@pytest.mark.parametrize(("principle", "case_id", "old", "new"), WRITTEN, ids=[f"P{one[0]}" for one in WRITTEN])
def test_accepted_at_the_first_answer(principle: int, case_id: str, old: str, new: str, cases: dict[str, Case]) -> None:
    case, stats = cases[case_id], VariantStats()
    assert case.reference.count(old) == 1
    flawed = case.reference.replace(old, new)
    teacher = FunctionTeacher(
        lambda asked: f"Flawed Variant 1:\n{flawed}" if f"Target principle: {principle}." in asked.user else "None."
    )
    pairs = asyncio.run(perturb_by_teacher(case, teacher, kinds=("single",), variants=1, seed=0, stats=stats))
    assert [(pair.violated, pair.flawed, pair.reference) for pair in pairs] == [((principle,), flawed, case.reference)]
    assert stats.accepted_in_round == {1: 1}
