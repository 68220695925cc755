"""The shipped cases: reproducible, long, distinct, grounded in their context, with pairs for all principles."""

import re
from collections import Counter
from pathlib import Path

import pytest

from data_builders.perturb.rules.engine import perturb
from data_builders.sources import SOURCES
from data_builders.sources.corpus_io import SourceError
from data_builders.sources.text_grounding import runs
from data_builders.text_units.text_match import content_words
from data_builders.validate import validate
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE
from judge_r1.core.records import Case, ReasoningPair
from retrieval.passages import split_passages
from retrieval.retriever import Retriever

NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?!\w)")
NAME = re.compile(r"(?<![.!?:] )(?<!^)\b[A-Z][\w’'-]+")
STEP = re.compile(r"^\d+\. ", re.M)


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return list(SOURCES.get("builtin").read(None, None, 0, Counter()))


@pytest.fixture(scope="module")
def pairs(cases: list[Case]) -> list[ReasoningPair]:
    return [pair for case in cases for pair in perturb(case, kinds=["single"], variants=1, abstained=Counter())]


def steps(case: Case) -> list[str]:
    return [STEP.sub("", line) for line in case.reference.split("\n")]


def facts(text: str) -> set[str]:
    """Numbers and names of a text. The first word of a sentence is not a name."""
    return {match[0] for match in NUMBER.finditer(text)} | {
        match[0].removesuffix("'s").removesuffix("'") for match in NAME.finditer(text)
    }


def holds(text: str, fact: str) -> bool:
    return re.search(rf"(?<![\w.,]){re.escape(fact)}(?!\w|[.,]\d)", text) is not None


def overlap(one: set[str], other: set[str]) -> float:
    """The common runs as a share of the runs of the shorter text."""
    return len(one & other) / max(1, min(len(one), len(other)))


def test_each_domain_has_forty_distinct_cases(cases: list[Case]) -> None:
    assert Counter(case.domain for case in cases) == {"medical": 40, "legal": 40, "academic": 40}
    assert len({case.case_id for case in cases}) == len({case.meta["group"] for case in cases}) == 120
    assert {(case.source, case.license) for case in cases} == {("builtin", "Apache-2.0")}


def test_limit_alternates_domains_and_a_path_is_rejected() -> None:
    read = SOURCES.get("builtin").read
    assert [case.domain for case in read(None, 4, 0, Counter())] == ["medical", "legal", "academic", "medical"]
    with pytest.raises(SourceError, match="leave --path out"):
        list(read(Path("somewhere"), None, 0, Counter()))


def test_contexts_and_references_have_the_intended_lengths(cases: list[Case]) -> None:
    for case in cases:
        assert 700 <= len(case.context.split()) <= 1500, case.meta
        assert 250 <= len(case.reference.split()) <= 480, case.meta
        assert [line.split()[0] for line in case.reference.split("\n")] == [
            f"{n}." for n in range(1, len(steps(case)) + 1)
        ]
        assert 8 <= len(steps(case)) <= 12, case.meta


def test_every_number_and_name_of_a_reference_is_in_its_case(cases: list[Case]) -> None:
    """The judge also sees the decision, so a reference may name the diagnosis."""
    for case in cases:
        known = f"{case.context}\n{case.decision}"
        lower = known.lower()
        for fact in set().union(*map(facts, steps(case))):
            assert holds(known, fact) if fact[0].isdigit() else fact.lower() in lower, (case.meta["name"], fact)


def test_most_steps_cite_a_value_or_a_name(cases: list[Case]) -> None:
    cited = [bool(facts(step)) for case in cases for step in steps(case)]
    assert sum(cited) > 0.75 * len(cited)


@pytest.mark.parametrize(("field", "most"), [("context", 0.05), ("reference", 0.03)])
def test_cases_share_few_words(cases: list[Case], field: str, most: float) -> None:
    texts = [runs(getattr(case, field), 8) for case in cases]
    assert max(overlap(one, other) for n, one in enumerate(texts) for other in texts[:n]) < most


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


def recall(cases: list[Case], method: str) -> float:
    """The share of steps for which the top three passages include the one with most of the facts that the step cites,
    or most of its words if it cites no fact."""
    found = Retriever({case.case_id: case.context for case in cases}, method=method)
    hits = []
    for case in cases:
        passages = split_passages(case.context)
        answers = found.search([(case.case_id, step) for step in steps(case)], 3)
        for step, answer in zip(steps(case), answers, strict=True):
            cited, words = facts(step), set(content_words(step))
            counts = [sum(holds(passage.text, fact) for fact in cited) for passage in passages]
            if max(counts) == 0:
                counts = [len(words & set(content_words(passage.text))) for passage in passages]
            best = {passage.index for passage, count in zip(passages, counts, strict=True) if count == max(counts)}
            hits.append(bool(best & {hit.passage.index for hit in answer}))
    return sum(hits) / len(hits)


def test_bm25_finds_the_evidence_of_a_step(cases: list[Case]) -> None:
    assert recall(cases, "bm25") > 0.92


@pytest.mark.slow
def test_dense_search_finds_the_evidence_of_a_step(cases: list[Case]) -> None:
    assert recall(cases, "bundled:e5-small") > 0.83
