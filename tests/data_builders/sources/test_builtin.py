"""The shipped cases: forty distinct ones in each domain, with valid pairs for all principles."""

from collections import Counter
from pathlib import Path

import pytest

from data_builders.generators import generator_for
from data_builders.generators.base import BuildPlan
from data_builders.perturb.rules.engine import perturb
from data_builders.sources import SOURCES
from data_builders.validate import validate
from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(SOURCES.get("builtin").read(None, None, 0, Counter()))


@pytest.fixture(scope="module")
def pairs(cases: list[Case]) -> list[ReasoningPair]:
    return [pair for case in cases for pair in perturb(case, kinds=["single"], variants=1, abstained=Counter())]


def test_limit_alternates_domains_and_a_path_is_rejected() -> None:
    read = SOURCES.get("builtin").read
    assert [case.domain for case in read(None, 4, 0, Counter())] == ["medical", "legal", "academic", "medical"]
    with pytest.raises(JudgeError, match="path has no effect on 'builtin': leave it out"):
        generator_for("builtin", with_teacher=False).check(BuildPlan(source="builtin", path=Path("somewhere")))


def test_every_pair_is_valid(cases: list[Case], pairs: list[ReasoningPair], tmp_path: Path) -> None:
    write_jsonl(tmp_path / CASES_FILE, cases)
    write_jsonl(tmp_path / PAIRS_FILE, pairs)
    report = validate(tmp_path)
    assert report.good, report.problems
