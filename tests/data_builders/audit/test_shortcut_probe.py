"""The probe finds a planted shortcut and stays at chance without one."""

from io import StringIO
from random import Random

import pytest
from rich.console import Console

from data_builders.audit.shortcut_probe import ProbeError, print_probe, probe, with_groups_as_cases
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span
from judge_r1.files.pair_set import PairSet

WORDS = [f"word{n}" for n in range(300)]


def pairs_of(cases: int, flaw: str | None, seed: int = 0) -> list[ReasoningPair]:
    """Two pairs per case. The flawed text has `flaw`, or another random word, at one position."""
    rng, pairs = Random(seed), []
    for number in range(cases):
        words = rng.choices(WORDS, k=30)
        reference = " ".join(words)
        case = Case.of(
            domain="test", context=f"case {number}", decision="x", reference=reference, source="t", license="t"
        )
        for variant, position in enumerate(rng.sample(range(30), 2), 1):
            changed = list(words)
            changed[position] = flaw or rng.choice([word for word in WORDS if word != words[position]])
            start = len(" ".join(words[:position])) + (position > 0)
            flaws = (Flaw(principle=2, operator="t", span=Span(start=start, end=start + len(changed[position]))),)
            origin = Origin(teacher="t", seed=0, flaws=flaws)
            pairs.append(ReasoningPair.of(case, " ".join(changed), variant=variant, origin=origin, seed=0))
    return pairs


def test_a_planted_word_is_found_and_reported() -> None:
    result = probe(pairs_of(60, "leak"))[0]
    assert result.group == "P2"
    assert (result.pairs, result.cases) == (120, 60)
    assert result.accuracy > 0.95
    assert result.ci95[0] > 0.9
    assert "-leak" in result.top_features


def test_accuracy_is_at_chance_without_a_shortcut() -> None:
    result = probe(pairs_of(150, None))[0]
    assert result.ci95[0] < 0.5 < result.ci95[1]


def reviews_of(papers: int, reviews: int) -> PairSet:
    """Reviews of papers. All of a paper quote the same rare word of it, and the flaw of each is another rare word."""
    cases, pairs = [], []
    for number in range(papers * reviews):
        paper = number // reviews
        quote, other = f"paper{paper}", f"other{number}"
        case = Case.of(
            domain="test",
            context=f"case {number}",
            decision="x",
            reference=f"review {number} quotes {quote}",
            source="t",
            license="t",
            meta={"group": f"{paper}"},
        )
        start = len(f"review {number} quotes ")
        flaws = (Flaw(principle=2, operator="t", span=Span(start=start, end=start + len(other))),)
        origin = Origin(teacher="t", seed=0, flaws=flaws)
        cases.append(case)
        pairs.append(ReasoningPair.of(case, f"review {number} quotes {other}", variant=1, origin=origin, seed=0))
    return PairSet.of(cases, pairs)


def test_reviews_of_one_paper_count_as_one_case() -> None:
    data = reviews_of(papers=30, reviews=3)
    assert probe(data.pairs)[0].accuracy > 0.9  # the reviews of the training folds show the quotation
    result = probe(with_groups_as_cases(data))[0]
    assert (result.pairs, result.cases, result.accuracy) == (90, 30, 0.5)


def test_same_seed_gives_same_results() -> None:
    pairs = pairs_of(20, None)
    assert probe(pairs, seed=3) == probe(pairs, seed=3)


def test_too_few_cases_are_an_error() -> None:
    with pytest.raises(ProbeError, match="at least 10 cases, but the set has 4"):
        probe(pairs_of(4, None))


def test_the_table_is_printed() -> None:
    out = StringIO()
    print_probe(probe(pairs_of(20, "leak")), Console(file=out, width=160))
    assert "leak" in out.getvalue()
    assert "P2" in out.getvalue()
