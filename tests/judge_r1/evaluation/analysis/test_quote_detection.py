"""Exact and near quotations against a brute-force search."""

from hypothesis import given, settings
from hypothesis import strategies as st

from judge_r1.evaluation.analysis.reasoning_traits import LEAST, RUN, SAME, WINDOW, holds, quotations, quotes, units
from retrieval.words import terms as words

CASE = (
    "The applicant was released on 4 May 1999 after nine months. He paid 34 crowns. Nobody asked him why he had paid."
)
TEXT = st.lists(st.sampled_from("abcd"), max_size=14)


def cites(text: str, source: str = CASE) -> bool:
    return quotes(words(text), units(source))


def test_five_words_in_a_row_are_a_quotation() -> None:
    assert cites("A says “Released, on 4 May 1999” rightly")
    assert not cites("A says released on 4 May only")


def test_short_sentence_counts_only_as_a_whole() -> None:
    assert cites("B says he paid 34 crowns")
    assert not cites("B says paid 34 crowns twice")
    assert not cites("yes", "yes. no.")
    assert [len(unit) for unit in units("One two. One two three. One two three four five six.")] == [11, 3]


def test_replaced_word_leaves_a_near_quotation() -> None:
    assert cites("the applicant was freed on 4 June 1999")
    assert not cites("the applicant was freed in 4 June 1998 or so")
    assert not cites("")
    assert not cites("anything", "")


def plainly(text: list[str], unit: list[str]) -> bool:
    """All shifts, all windows."""
    run = min(RUN, len(unit))
    if run < LEAST:
        return False
    for shift in range(-len(text), len(unit) + 1):
        same = [0 <= at + shift < len(unit) and unit[at + shift] == word for at, word in enumerate(text)]
        for at in range(len(same)):
            if len(same[at : at + run]) == run and all(same[at : at + run]):
                return True
            if sum(same[at : at + WINDOW]) >= SAME:
                return True
    return False


@settings(max_examples=300)
@given(TEXT, TEXT)
def test_quotations_equal_a_brute_force_search(text: list[str], unit: list[str]) -> None:
    assert quotes(text, [unit]) == plainly(text, unit)


@settings(max_examples=200)
@given(TEXT, TEXT)
def test_text_holds_its_quotations(text: list[str], unit: list[str]) -> None:
    for stretch in quotations(text, [unit]):
        assert holds(text, stretch)
        assert holds(unit, stretch)


def test_quotation_is_held_exactly_or_nearly() -> None:
    assert not holds(words("witness 1 of file 0"), words("witness 4 of file 0"))
    assert holds(words("x the applicant was freed on 4 June 1999"), words("the applicant was released on 4 May 1999"))
