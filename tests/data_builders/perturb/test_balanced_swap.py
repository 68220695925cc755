"""Swaps meet detailed balance, keep grammar, and stay in their slot."""

from collections import Counter
from random import Random

import pytest

from data_builders.perturb.lexicons.attributes import ATTRIBUTES, DAYS, DIGITS, MONTHS, YEARS
from data_builders.perturb.lexicons.terms import INVENTED, OTHERS_OF_THE_CASE
from data_builders.perturb.lexicons.weights import WEIGHTS as SHIPPED
from data_builders.perturb.rules import balanced_swap
from data_builders.perturb.rules.balanced_swap import SwapClass, Term, in_case_of
from data_builders.perturb.rules.p4_groundedness import EXHIBITS
from scripts.fit_swap_weights import fit, flows

ANY = lambda other: True  # noqa: E731


@pytest.fixture
def weights(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    frequencies = {"ct": 60.0, "mri": 25.0, "pet": 10.0, "xray": 5.0}
    monkeypatch.setattr(balanced_swap, "WEIGHTS", {("toy", "image"): frequencies})
    return frequencies


def test_as_many_words_come_as_go(weights: dict[str, float]) -> None:
    """Flows x → y and y → x of a text with the frequencies that the weights say differ by chance only."""
    klass = SwapClass.parse("image", "ct, mri, pet, xray")
    rng, flows = Random(0), Counter[tuple[str, str]]()
    for word in rng.choices(list(weights), list(weights.values()), k=20_000):
        found = next(klass.find(word, 0, len(word)))
        new = klass.swap(found, "toy", ANY, "", rng)
        if new is not None:
            flows[word, new] += 1
    assert len(flows) == 12
    for (one, other), count in flows.items():
        back = flows[other, one]
        assert abs(count - back) < 4 * (count + back) ** 0.5, (one, other, count, back)


def test_words_without_weight_are_never_drawn(weights: dict[str, float]) -> None:
    klass = SwapClass.parse("image", "ct, mri, sonar")
    found = next(klass.find("ct", 0, 2))
    assert {klass.swap(found, "toy", ANY, "", Random(n)) for n in range(200)} <= {"mri", None}


def test_near_limits_the_rank(weights: dict[str, float]) -> None:
    years = SwapClass.parse("year", ", ".join(map(str, range(1990, 2010))), near=2)
    found = next(years.find("2000", 0, 4))
    drawn = {years.swap(found, "toy", ANY, "", Random(n)) for n in range(300)}
    assert drawn <= {"1998", "1999", "2001", "2002", None}
    assert len(drawn - {None}) == 4


def test_aliases_count_as_the_thing() -> None:
    klass = SwapClass.parse("image", "scan, echo=sonography/ultrasound")
    assert klass.terms[1] == Term("echo", ("sonography", "ultrasound"))
    found = next(klass.find("scan", 0, 4))
    assert all(klass.swap(found, "x", lambda other: other != "ultrasound", "", Random(n)) is None for n in range(20))


def test_plural_and_article_stay_right() -> None:
    klass = SwapClass.parse("document", "letter, invoice, copy")
    plural = next(klass.find("two letters", 0, 11))
    drawn = {klass.swap(plural, "x", ANY, "two ", Random(n)) for n in range(50)}
    assert drawn - {None} == {"invoices", "copies"}
    single = next(klass.find("a letter", 0, 8))
    assert {klass.swap(single, "x", ANY, "a ", Random(n)) for n in range(50)} - {None} == {"copy"}


def test_find_keeps_to_words_and_slots() -> None:
    klass = SwapClass.parse("side", "left, right", right=r"\s+kidney")
    text = "He left the right kidney and the left lung; leftover left-sided Left kidney."
    assert [text[f.start : f.end] for f in klass.find(text, 0, len(text))] == ["right", "Left"]


def test_capitals_follow_the_old_word() -> None:
    klass = SwapClass.parse("side", "left, right")
    text = "Left or right"
    first, second = klass.find(text, 0, len(text))
    assert in_case_of("right", first, text) == "Right"
    assert in_case_of("left", second, text) == "left"


def test_shipped_weights_name_words_of_their_classes() -> None:
    for (corpus, name), weights in SHIPPED.items():
        domain = corpus.split()[-1]
        found = [*ATTRIBUTES[domain], *OTHERS_OF_THE_CASE[domain], MONTHS, YEARS, DAYS, DIGITS, EXHIBITS]
        found += [klass for group in INVENTED[domain].values() for klass in group]
        words = {term.text for klass in found if klass.name == name for term in klass.terms}
        assert [klass.name for klass in found].count(name) == 1
        assert set(weights) <= words, (domain, name)
        assert all(weight > 0 for weight in weights.values())


def test_fit_balances_what_can_be_balanced() -> None:
    """`cat` may stand where `dog` does and back, `eel` can only come in: it gets no weight."""
    klass = SwapClass.parse("animal", "cat, dog, cow, eel")
    there = [*[(klass, "cat", ["dog", "cow", "eel"])] * 12, *[(klass, "dog", ["cat", "eel"])] * 4]
    there += [(klass, "cow", ["cat", "dog"])] * 2
    weights = fit(there)
    taken, given = flows(there, weights)
    assert set(weights) == {"cat", "dog", "cow"}
    assert sum(taken.values()) > 5
    assert all(abs(taken[word] - given[word]) < 0.05 for word in weights)
