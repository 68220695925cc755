"""Generated cases: reproducible, grounded, distinct; builds from them are balanced and complete."""

import re
from collections import Counter
from pathlib import Path

import pytest
from test_builtin import facts, holds, steps

from data_builders.build import build_by_rules
from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from data_builders.sources import SOURCES
from data_builders.sources.builtin_cases import generate
from data_builders.sources.builtin_cases.generate import DOMAINS, generated
from data_builders.splits.near_duplicates import near_duplicates
from data_builders.validate import validate
from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import load_pairs
from judge_r1.core.records import Case

DOUBLED = re.compile(r"\b(?!had\b)([A-Za-z]+) \1\b")
PLACEHOLDER = re.compile(r"[{}|]|\.\.|=>|//|##")


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(generated(120, 3))


def test_a_larger_number_continues_a_smaller_one_and_seeds_differ(cases: list[Case]) -> None:
    assert list(generated(7, 3)) == cases[:21]
    assert [case.domain for case in cases[:4]] == ["medical", "legal", "academic", "medical"]
    other = list(generated(7, 4))
    assert not {case.case_id for case in other} & {case.case_id for case in cases}


def test_cases_are_distinct_and_of_all_topics(cases: list[Case]) -> None:
    assert len({case.case_id for case in cases}) == 360
    for domain, (_, _, topics) in DOMAINS.items():
        own = [case for case in cases if case.domain == domain]
        counts = Counter(case.meta["topic"] for case in own)
        assert len(counts) == sum(name != "any" for name in topics)
        assert max(counts.values()) - min(counts.values()) <= 1
        assert not near_duplicates(case.context for case in own)
    assert {case.source for case in cases} == {"builtin"}


def test_every_number_and_name_of_a_reference_is_in_its_case(cases: list[Case]) -> None:
    for case in cases:
        known = f"{case.context}\n{case.decision}"
        for fact in set().union(*map(facts, steps(case))):
            assert holds(known, fact) if fact[0].isdigit() else fact.lower() in known.lower(), (case.meta["name"], fact)


def test_templates_are_filled(cases: list[Case]) -> None:
    for case in cases:
        for text in (case.context, case.decision, case.reference):
            assert not PLACEHOLDER.search(text), (case.meta["name"], PLACEHOLDER.search(text))
            assert not DOUBLED.search(text), (case.meta["name"], DOUBLED.search(text))
        assert 600 <= len(case.context.split()) <= 1200
        assert 7 <= len(steps(case)) <= 12


def plan(per_domain: int) -> BuildPlan:
    return BuildPlan("builtin", cases_per_domain=per_domain)


def test_a_build_is_the_same_in_processes_and_continues(tmp_path: Path) -> None:
    made = {}
    for name, per_domain, processes in (("one", 1, 1), ("two", 1, 2), ("more", 2, 1)):
        make = generator_for("builtin", with_teacher=False)(plan(per_domain))
        report = build_by_rules(make, tmp_path / name, processes)
        assert report["cases_per_domain"] == per_domain
        made[name] = (tmp_path / name / "pairs.jsonl").read_bytes()
    assert made["one"] == made["two"]
    assert made["more"].startswith(made["one"])
    checked = validate(tmp_path / "more")
    assert checked.good, checked.problems
    counts = Counter(pair.violated for pair in load_pairs(tmp_path / "more").pairs if pair.kind == "single")
    assert counts[2,] >= 15, "half of 5 variants of 6 cases"


def test_a_failure_in_a_process_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = generator_for("builtin", with_teacher=False)(plan(1))
    monkeypatch.setattr(make, "items", lambda: iter([None]))  # no case
    with pytest.raises(JudgeError, match="a process of the build failed: 'NoneType' object has no attribute"):
        build_by_rules(make, tmp_path / "out", 2)


def test_only_builtin_generates(tmp_path: Path) -> None:
    assert [name for name in SOURCES.names() if SOURCES.get(name).generated] == ["builtin"]
    for source, path, message in (
        ("mini", None, "source 'mini' has no --cases-per-domain"),
        ("builtin", tmp_path, "--path reads"),
    ):
        asked = BuildPlan(source, path=path, cases_per_domain=1)
        with pytest.raises(JudgeError, match=message):
            list(generator_for(source, with_teacher=False)(asked).items())
    with pytest.raises(JudgeError, match="--cases-per-domain is a number from 1 on"):
        BuildPlan("builtin", cases_per_domain=0)


def test_orders_of_topics_do_not_depend_on_the_number(cases: list[Case]) -> None:
    assert generate.generated_case("legal", 100, 3) == [case for case in cases if case.domain == "legal"][100]
