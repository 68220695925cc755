"""Swaps satisfy detailed balance, keep the grammar and respect their slots; the shipped lexicons are consistent."""

from collections import Counter
from random import Random

import pytest

from data_builders.perturb.rules import balanced_swap
from data_builders.perturb.rules.balanced_swap import WEIGHTS as SHIPPED
from data_builders.perturb.rules.balanced_swap import SwapClass, Term, match_case
from data_builders.perturb.rules.p4_groundedness import EXHIBITS
from data_builders.perturb.rules.word_classes import (
    ATTRIBUTES,
    CASE_TERMS,
    DAYS,
    DIGITS,
    INVENTED,
    MONTHS,
    YEARS,
)
from scripts.fit_swap_weights import fit, flows

ANY = lambda other: True  # noqa: E731


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    frequencies = {"ct": 60.0, "mri": 25.0, "pet": 10.0, "xray": 5.0}
    monkeypatch.setattr(balanced_swap, "WEIGHTS", {"test": {"image": frequencies}})
    return frequencies


def test_swaps_satisfy_detailed_balance(weights: dict[str, float]) -> None:
    """The flows x → y and y → x differ by chance only if words have the frequencies of the weights."""
    swap_class = SwapClass.of("image", ["ct", "mri", "pet", "xray"])
    rng, flows = Random(0), Counter[tuple[str, str]]()
    for word in rng.choices(list(weights), list(weights.values()), k=20_000):
        found = next(swap_class.find(word, 0, len(word)))
        new = swap_class.swap(found, "test", ANY, "", rng)
        if new is not None:
            flows[word, new] += 1
    assert len(flows) == 12
    for (one, other), count in flows.items():
        back = flows[other, one]
        assert abs(count - back) < 4 * (count + back) ** 0.5, (one, other, count, back)


def test_words_without_weight_are_never_drawn(weights: dict[str, float]) -> None:
    swap_class = SwapClass.of("image", ["ct", "mri", "sonar"])
    found = next(swap_class.find("ct", 0, 2))
    assert {swap_class.swap(found, "test", ANY, "", Random(n)) for n in range(200)} <= {"mri", None}


def test_max_distance_limits_the_rank(weights: dict[str, float]) -> None:
    years = SwapClass.of("year", map(str, range(1990, 2010)), max_distance=2)
    found = next(years.find("2000", 0, 4))
    drawn = {years.swap(found, "test", ANY, "", Random(n)) for n in range(300)}
    assert drawn <= {"1998", "1999", "2001", "2002", None}
    assert len(drawn - {None}) == 4


def test_a_term_fits_only_if_all_aliases_fit() -> None:
    swap_class = SwapClass.of("image", ["scan", "echo"], {"echo": ("sonography", "ultrasound")})
    assert swap_class.terms[1] == Term("echo", ("sonography", "ultrasound"))
    found = next(swap_class.find("scan", 0, 4))
    assert all(
        swap_class.swap(found, "x", lambda other: other != "ultrasound", "", Random(n)) is None for n in range(20)
    )


def test_plural_and_article_stay_correct() -> None:
    swap_class = SwapClass.of("document", ["letter", "invoice", "copy"])
    plural = next(swap_class.find("two letters", 0, 11))
    drawn = {swap_class.swap(plural, "x", ANY, "two ", Random(n)) for n in range(50)}
    assert drawn - {None} == {"invoices", "copies"}
    single = next(swap_class.find("a letter", 0, 8))
    assert {swap_class.swap(single, "x", ANY, "a ", Random(n)) for n in range(50)} - {None} == {"copy"}


def test_find_matches_whole_words_in_their_slot() -> None:
    swap_class = SwapClass.of("side", ["left", "right"], right=r"\s+kidney")
    text = "He left the right kidney and the left lung; leftover left-sided Left kidney."
    assert [text[f.start : f.end] for f in swap_class.find(text, 0, len(text))] == ["right", "Left"]


def test_capitals_match_the_old_word() -> None:
    swap_class = SwapClass.of("side", ["left", "right"])
    text = "Left or right"
    first, second = swap_class.find(text, 0, len(text))
    assert match_case("right", first, text) == "Right"
    assert match_case("left", second, text) == "left"


def test_shipped_weights_belong_to_words_of_their_classes() -> None:
    for corpus, name, weights in ((corpus, *entry) for corpus, found in SHIPPED.items() for entry in found.items()):
        domain = corpus.split()[-1]
        classes = [*ATTRIBUTES[domain], *CASE_TERMS[domain], MONTHS, YEARS, DAYS, DIGITS, EXHIBITS]
        classes += [swap_class for group in INVENTED[domain].values() for swap_class in group]
        words = {term.text for swap_class in classes if swap_class.name == name for term in swap_class.terms}
        assert [swap_class.name for swap_class in classes].count(name) == 1
        assert set(weights) <= words, (domain, name)
        assert all(weight > 0 for weight in weights.values())


def test_fit_balances_the_words_that_can_be_balanced() -> None:
    """`cat` and `dog` can replace each other. `eel` can only enter, so it gets no weight."""
    swap_class = SwapClass.of("animal", ["cat", "dog", "cow", "eel"])
    sites = [*[(swap_class, "cat", ["dog", "cow", "eel"])] * 12, *[(swap_class, "dog", ["cat", "eel"])] * 4]
    sites += [(swap_class, "cow", ["cat", "dog"])] * 2
    weights = fit(sites)
    outflow, inflow = flows(sites, weights)
    assert set(weights) == {"cat", "dog", "cow"}
    assert sum(outflow.values()) > 5
    assert all(abs(outflow[word] - inflow[word]) < 0.05 for word in weights)
