"""Swaps keep the grammar and respect their slots."""

from random import Random

import pytest

from data_builders.perturb.rules.word_classes import ATTRIBUTES
from data_builders.perturb.rules.word_swap import SwapClass, match_case

ANY = lambda other: True  # noqa: E731


def test_max_distance_limits_the_rank() -> None:
    years = SwapClass("year", tuple(map(str, range(1990, 2010))), max_distance=2)
    found = years.find("2000", 0, 4)[0]
    drawn = {years.swap(found, ANY, "", Random(n)) for n in range(300)}
    assert drawn <= {"1998", "1999", "2001", "2002", None}
    assert len(drawn - {None}) == 4


def test_plural_and_article_stay_correct() -> None:
    swap_class = SwapClass("document", ("letter", "invoice", "copy"))
    plural = swap_class.find("two letters", 0, 11)[0]
    drawn = {swap_class.swap(plural, ANY, "two ", Random(n)) for n in range(50)}
    assert drawn - {None} == {"invoices", "copies"}
    single = swap_class.find("a letter", 0, 8)[0]
    assert {swap_class.swap(single, ANY, "a ", Random(n)) for n in range(50)} - {None} == {"copy"}


def test_find_matches_whole_words_in_their_slot() -> None:
    swap_class = SwapClass("side", ("left", "right"), right=r"\s+kidney")
    text = "He left the right kidney and the left lung; leftover left-sided Left kidney."
    assert [text[f.start : f.end] for f in swap_class.find(text, 0, len(text))] == ["right", "Left"]


def test_capitals_match_the_old_word() -> None:
    swap_class = SwapClass("side", ("left", "right"))
    text = "Left or right"
    first, second = swap_class.find(text, 0, len(text))
    assert match_case("right", first, text) == "Right"
    assert match_case("left", second, text) == "left"


def attributes(text: str) -> list[str]:
    """The words of a medical text that attribute classes may replace."""
    found = [term for swap_class in ATTRIBUTES["medical"] for term in swap_class.find(text, 0, len(text))]
    return [text[term.start : term.end] for term in found]


@pytest.mark.parametrize(
    ("word", "kept", "changed"),
    [
        ("seconds", "It took four seconds.", None),
        ("second", "It took one second.", "The second scan was read."),
        ("hours", "It lasted 6,300 hours.", "It lasted 3 hours."),
        ("right", "He was right to ask.", "The right arm was swollen."),
        ("lower", "It was lower than before.", "The lower lobe was removed."),
        ("morning", "Their morning coffee was cold.", "He came in the morning."),
        ("mother", "It was the mother cyst.", "He saw the mother."),
        ("north", "It goes from north to south.", "It lies in the north."),
        ("south", "It goes from north to south.", "It lies in the south."),
    ],
)
def test_attributes_respect_their_slots(word: str, kept: str, changed: str | None) -> None:
    assert word not in attributes(kept)
    assert changed is None or word in attributes(changed)
