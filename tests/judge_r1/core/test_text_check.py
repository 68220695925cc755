"""Words of messages."""

import pytest

from judge_r1.core.text_check import are, counted, reasons


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "pair", "0 pairs are"), (1, "pair", "1 pair is"), (2, "pair", "2 pairs are"),
        (1, "search", "1 search is"), (2, "search", "2 searches are"), (3, "process", "3 processes are"),
        (2, "labelled pair", "2 labelled pairs are"),
    ],
)  # fmt: skip
def test_a_count_agrees_with_its_noun_and_verb(count: int, noun: str, text: str) -> None:
    assert f"{counted(count, noun)} {are(count)}" == text


def test_reasons_are_words_the_most_frequent_first() -> None:
    assert reasons({"too long": 1, "no claim": 11}) == "no claim (11), too long (1)"
    assert reasons({}) == "none"
