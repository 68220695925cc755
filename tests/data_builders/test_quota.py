"""`build teacher=SPEC per_principle=N` goes on over the cases until each set has N pairs or the budget ends."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_teacher
import pytest

from data_builders.build import build_by_teacher
from data_builders.build_recipe import BuildRecipe, OtherBuild, refuse_other_build
from data_builders.generators.base import BuildPlan
from data_builders.generators.pairs_by_teacher import wanted_sets
from data_builders.placement import set_name
from data_builders.preview import cases_to_build
from data_builders.teachers import BudgetSpent, TeacherReply, TeacherRequest
from data_builders.teachers.spec import parse_spec
from judge_r1.files.pair_set import load_pairs

SPEC = "chat@http://127.0.0.1:1/v1#model"
Answer = Callable[[str, str, int], str]


class Scripted:
    """A teacher that answers by a function, counts the calls of each set, and has a budget of `most` calls."""

    name = parse_spec(SPEC).name

    def __init__(self, answer: Answer, most: int = 10_000) -> None:
        self.answer, self.most = answer, most
        self.calls: Counter[str] = Counter()

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        if self.calls.total() >= self.most:
            raise BudgetSpent("the budget of $1.00 is spent: 9 calls")
        target = re.search(r"^Target principle: (\d)", request.user, re.MULTILINE)
        self.calls[f"P{target[1]}" if target else "multi"] += 1
        for _ in range(self.calls.total() % 7):  # answers end in another order than they began
            await asyncio.sleep(0)
        text = self.answer(request.system, request.user, request.sample)
        return TeacherReply(text=text, input_tokens=1, output_tokens=1, finished=True, model=self.name)


def rare(system: str, user: str, sample: int) -> str:
    """Finds a place for P6 in a third of the cases only, and never one for P5."""
    target = re.search(r"^Target principle: (\d)", user, re.MULTILINE)
    if target and (target[1] == "5" or (target[1] == "6" and len(user) % 3)):
        return "NO PLACE"
    return fake_teacher.honest(system, user, sample)


def build(out: Path, teacher: Scripted, concurrency: int = 8, **options: Any) -> dict[str, Any]:
    plan = BuildPlan.model_validate({"source": "builtin", "variants": 3, "early_stop": False} | options)
    return asyncio.run(build_by_teacher(plan, out, teacher, concurrency=concurrency))


def pairs_by_set(out: Path) -> Counter[str]:
    return Counter(set_name(pair) for pair in load_pairs(out).pairs)


def test_every_set_gets_its_number_and_no_more_calls_are_made(tmp_path: Path) -> None:
    teacher = Scripted(fake_teacher.honest)
    report = build(tmp_path, teacher, per_principle=20)
    assert pairs_by_set(tmp_path) == dict.fromkeys([*(f"P{n}" for n in range(1, 7)), "multi"], 20)
    assert report["short"] == {"sets": {}, "because": ""}
    assert report["per_principle"] == 20
    assert report["cases"] < 30, "of 120 cases, at about three pairs a case"
    assert all(calls <= 3 * report["cases"] for calls in teacher.calls.values())


def test_a_rare_principle_is_asked_of_more_cases_and_what_is_short_is_said(tmp_path: Path) -> None:
    teacher = Scripted(rare)
    report = build(tmp_path, teacher, per_principle=12, kinds=("single",), limit=60)
    made = pairs_by_set(tmp_path)
    assert (made["P1"], made["P6"], made["P5"]) == (12, 12, 0)
    assert report["short"] == {"sets": {"P5": 12}, "because": "no case is left"}
    assert teacher.calls["P5"] == 60 > teacher.calls["P6"] > teacher.calls["P1"]


def test_the_pairs_do_not_depend_on_how_many_calls_run_at_a_time(tmp_path: Path) -> None:
    for name, concurrency in (("one", 1), ("many", 16)):
        build(tmp_path / name, Scripted(fake_teacher.liar), concurrency, per_principle=11)
    for file in ("cases.jsonl", "pairs.jsonl", "build.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "many" / file).read_bytes()


def test_a_spent_budget_ends_the_build_with_what_is_made(tmp_path: Path) -> None:
    report = build(tmp_path, Scripted(rare, most=40), per_principle=12, kinds=("single",))
    assert 0 < report["pairs"] == len(load_pairs(tmp_path).pairs)
    assert report["short"]["because"] == "the budget of $1.00 is spent"
    assert report["short"]["sets"]["P5"] == 12
    assert json.loads((tmp_path / "build.json").read_text()) == report


@pytest.mark.parametrize(("most", "options"), [(40, {"limit": 30}), (0, {"per_principle": 5})])
def test_without_a_quota_or_without_a_pair_a_spent_budget_is_an_error(
    most: int, options: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(BudgetSpent):
        build(tmp_path, Scripted(rare, most=most), **options)
    assert not (tmp_path / "pairs.jsonl").exists()


def test_candidates_are_chosen_before_the_quota_cuts(tmp_path: Path) -> None:
    options: dict[str, Any] = {"per_principle": 7, "variants": 2, "candidates": 4, "kinds": ("single",)}
    report = build(tmp_path, Scripted(fake_teacher.honest), **options)
    assert pairs_by_set(tmp_path) == {f"P{n}": 7 for n in range(1, 7)}
    assert report["left_over"]["P1"] > 0


def test_another_quota_is_another_build(tmp_path: Path) -> None:
    build(tmp_path, Scripted(fake_teacher.honest), per_principle=4, kinds=("single",))
    recipe = BuildRecipe(source="builtin", kinds=("single",), variants=3, per_principle=5, teacher=SPEC)
    with pytest.raises(OtherBuild, match="per_principle=4, and this one has per_principle=5"):
        refuse_other_build(tmp_path, recipe)


def test_a_preview_estimates_the_cases_that_the_quota_takes() -> None:
    plan = BuildPlan(source="builtin", kinds=("single",), per_principle=100)
    made = dict.fromkeys(wanted_sets(plan), 10)
    assert cases_to_build(plan, {"cases": 4, "by_set": made}, 1000) == 40
    assert cases_to_build(plan, {"cases": 4, "by_set": {**made, "P3": 0}}, 1000) == 1000
    assert cases_to_build(BuildPlan(source="builtin"), {"cases": 4}, 1000) == 1000
