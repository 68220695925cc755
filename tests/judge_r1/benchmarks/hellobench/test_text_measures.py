"""Measures of a text without a model, on texts that can be counted by hand."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.hellobench.text_measures import (
    distinct_4,
    is_refusal,
    is_repetitive,
    length_error,
    repetition_4,
    sentences,
    words,
)


def test_words_are_those_of_the_treebank_by_sentence() -> None:
    assert words("It isn't so. Is it?") == ["It", "is", "n't", "so", ".", "Is", "it", "?"]
    assert words(" \n ") == []


def test_a_sentence_ends_after_closing_quotes_and_not_in_numbers() -> None:
    assert sentences('He said "no." Then 3.5 went.\nLast line') == ['He said "no."', "Then 3.5 went.", "Last line"]


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_four_grams_against_a_plain_count(tokens: list[str]) -> None:
    grams = ["".join(tokens[n : n + 4]) for n in range(len(tokens) - 3)]
    repeated = [gram for gram, count in Counter(grams).items() if count > 1]
    assert repetition_4(tokens) == pytest.approx(100 * len(repeated) / max(1, len(set(grams))))
    assert distinct_4(tokens) == pytest.approx(len(set(grams)) / max(1, len(tokens)))


def test_repetition_refusal_and_length() -> None:
    assert is_repetitive("No. Yes. No. No.")
    assert not is_repetitive("No. Yes. No.")
    assert is_refusal("\n given the constraints, I stop.", ["Given the constraints"])
    assert not is_refusal("I stop, given the constraints.", ["Given the constraints"])
    assert length_error(1900, 2000) == length_error(2100, 2000) == 100
