"""The shipped cases: forty distinct ones in each domain, with valid pairs for all principles."""

from collections import Counter
from pathlib import Path

import pytest

from data_builders.perturb.rules.engine import perturb
from data_builders.sources import SOURCES
from data_builders.sources.corpus_io import SourceError
from data_builders.validate import validate
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE
from judge_r1.core.records import Case, ReasoningPair


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(SOURCES.get("builtin").read(None, None, 0, Counter()))


@pytest.fixture(scope="module")
def pairs(cases: list[Case]) -> list[ReasoningPair]:
    return [pair for case in cases for pair in perturb(case, kinds=["single"], variants=1, abstained=Counter())]


def test_each_domain_has_forty_distinct_cases(cases: list[Case]) -> None:
    assert Counter(case.domain for case in cases) == {"medical": 40, "legal": 40, "academic": 40}
    assert len({case.case_id for case in cases}) == len({case.meta["group"] for case in cases}) == 120
    assert {(case.source, case.license) for case in cases} == {("builtin", "Apache-2.0")}


def test_limit_alternates_domains_and_a_path_is_rejected() -> None:
    read = SOURCES.get("builtin").read
    assert [case.domain for case in read(None, 4, 0, Counter())] == ["medical", "legal", "academic", "medical"]
    with pytest.raises(SourceError, match="leave --path out"):
        list(read(Path("somewhere"), None, 0, Counter()))


def test_pairs_of_each_principle_that_rules_make(pairs: list[ReasoningPair]) -> None:
    singles = Counter((pair.domain, pair.violated[0]) for pair in pairs if pair.kind == "single")
    domains = ("medical", "legal", "academic")
    assert all(singles[domain, number] >= least for domain in domains for number, least in ((1, 4), (2, 35), (5, 4)))
    for number, least in ((1, 40), (2, 100), (4, 4), (5, 40), (6, 4)):
        assert sum(singles[domain, number] for domain in domains) >= least


def test_every_pair_is_valid(cases: list[Case], pairs: list[ReasoningPair], tmp_path: Path) -> None:
    write_jsonl(tmp_path / CASES_FILE, cases)
    write_jsonl(tmp_path / PAIRS_FILE, pairs)
    report = validate(tmp_path)
    assert report.good, report.problems
