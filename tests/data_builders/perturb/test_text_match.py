"""Phrases match whole words in any case; sentences are found by their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.text_units.text_match import (
    contains,
    content_words,
    numbers,
    occurrences,
    sentence_index,
    sentences_with,
    stem,
)

TEXT = "A 34-year-old man had 5.2 mmol. The Left   kidney was removed.\nTwo biopsies were taken."


@pytest.mark.parametrize("phrase", ["34 year", "left kidney", "5.2", "LEFT-KIDNEY", "34-year-old"])
def test_contains(phrase: str) -> None:
    assert contains(TEXT, phrase)


@pytest.mark.parametrize("phrase", ["4 year", "5", "2", "34-year-o", "eft kidney", "kidney left"])
def test_only_whole_words_and_numbers_count(phrase: str) -> None:
    assert not contains(TEXT, phrase)


@given(st.text(alphabet="a 12.,·-–", max_size=20), st.from_regex(r"[12]{1,2}(?:[.,·][12])?", fullmatch=True))
def test_the_numbers_of_a_text_are_those_that_it_contains(text: str, number: str) -> None:
    assert (number in numbers(text)) == contains(text, number)


@given(st.text(alphabet="ab 12.-", max_size=30), st.text(alphabet="ab12", min_size=1, max_size=4))
def test_occurrences_are_spans_of_the_phrase(text: str, phrase: str) -> None:
    assert all(text[span.start : span.end].lower() == phrase for span in occurrences(text, phrase))


@given(
    st.lists(st.lists(st.sampled_from(["left", "right", "kidney", "liver", "was", "is"]), min_size=1), max_size=6),
    st.data(),
)
def test_sentences_with_equals_a_scan_of_all_sentences(sentences: list[list[str]], data: st.DataObject) -> None:
    text = " ".join(f"The {' '.join(words)}." for words in sentences)
    wanted = data.draw(st.lists(st.sampled_from(["left", "kidney", "liver", "spleen"]), max_size=3))
    assert sentences_with(text, wanted) == [
        sentence for sentence in sentence_index(text) if set(wanted) <= sentence.stems
    ]


def test_plurals_match_their_singular() -> None:
    assert stem("biopsies") == stem("biopsy")
    assert stem("masses") == stem("mass")
    assert stem("pancreas") != stem("pancrea")[:-1]
    assert sentences_with(TEXT, {stem("biopsy")})


def test_content_words_omit_function_words_and_repeats() -> None:
    assert content_words("The mass of the 36 mm mass is it") == ["mass", "36", "mm"]
