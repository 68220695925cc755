"""Swaps keep the grammar and respect their slots."""

from random import Random

from data_builders.perturb.rules.word_swap import SwapClass, Term, match_case

ANY = lambda other: True  # noqa: E731


def test_max_distance_limits_the_rank() -> None:
    years = SwapClass.of("year", map(str, range(1990, 2010)), max_distance=2)
    found = next(years.find("2000", 0, 4))
    drawn = {years.swap(found, ANY, "", Random(n)) for n in range(300)}
    assert drawn <= {"1998", "1999", "2001", "2002", None}
    assert len(drawn - {None}) == 4


def test_a_term_fits_only_if_all_aliases_fit() -> None:
    swap_class = SwapClass.of("image", ["scan", "echo"], {"echo": ("sonography", "ultrasound")})
    assert swap_class.terms[1] == Term("echo", ("sonography", "ultrasound"))
    found = next(swap_class.find("scan", 0, 4))
    assert all(swap_class.swap(found, lambda other: other != "ultrasound", "", Random(n)) is None for n in range(20))


def test_plural_and_article_stay_correct() -> None:
    swap_class = SwapClass.of("document", ["letter", "invoice", "copy"])
    plural = next(swap_class.find("two letters", 0, 11))
    drawn = {swap_class.swap(plural, ANY, "two ", Random(n)) for n in range(50)}
    assert drawn - {None} == {"invoices", "copies"}
    single = next(swap_class.find("a letter", 0, 8))
    assert {swap_class.swap(single, ANY, "a ", Random(n)) for n in range(50)} - {None} == {"copy"}


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
