"""String match: whole words, any case, and sentences that hold given words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.perturb.rules.text_match import content_words, holding, index, occurrences, says, stem

TEXT = "A 34-year-old man had 5.2 mmol. The Left   kidney was removed.\nTwo biopsies were taken."


@pytest.mark.parametrize("phrase", ["34 year", "left kidney", "5.2", "LEFT-KIDNEY", "34-year-old"])
def test_says(phrase: str) -> None:
    assert says(TEXT, phrase)


@pytest.mark.parametrize("phrase", ["4 year", "5", "2", "34-year-o", "eft kidney", "kidney left"])
def test_only_whole_words_and_numbers_count(phrase: str) -> None:
    assert not says(TEXT, phrase)


@given(st.text(alphabet="ab 12.-", max_size=30), st.text(alphabet="ab12", min_size=1, max_size=4))
def test_occurrences_are_where_the_phrase_stands(text: str, phrase: str) -> None:
    assert all(text[span.start : span.end].lower() == phrase for span in occurrences(text, phrase))


def test_holding_wants_all_words_in_one_sentence() -> None:
    assert [TEXT[s.start : s.end] for s in holding(TEXT, {"left", "kidney"})] == ["The Left   kidney was removed."]
    assert not holding(TEXT, {"man", "kidney"})


@given(
    st.lists(st.lists(st.sampled_from(["left", "right", "kidney", "liver", "was", "is"]), min_size=1), max_size=6),
    st.data(),
)
def test_holding_finds_what_reading_every_sentence_finds(told: list[list[str]], data: st.DataObject) -> None:
    text = " ".join(f"The {' '.join(words)}." for words in told)
    wanted = data.draw(st.lists(st.sampled_from(["left", "kidney", "liver", "spleen"]), max_size=3))
    assert holding(text, wanted) == [sentence for sentence in index(text) if set(wanted) <= sentence.words]


def test_plurals_meet_their_singular() -> None:
    assert stem("biopsies") == stem("biopsy")
    assert stem("masses") == stem("mass")
    assert stem("pancreas") != stem("pancrea")[:-1]
    assert holding(TEXT, {stem("biopsy")})


def test_content_words_leave_out_grammar_and_repeats() -> None:
    assert content_words("The mass of the 36 mm mass is it") == ["mass", "36", "mm"]
