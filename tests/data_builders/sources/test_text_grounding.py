"""Numbers, quotations and word runs of a text that occur in another text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.sources.text_grounding import missing_numbers, runs


@given(st.lists(st.integers(0, 10**6), max_size=6), st.lists(st.integers(0, 10**6), max_size=6))
def test_missing_numbers_are_those_not_in_the_source(said: list[int], known: list[int]) -> None:
    missing = missing_numbers(" and ".join(map(str, said)), " or ".join(map(str, known)))
    assert missing == [str(n) for n in dict.fromkeys(said) if n not in known]


@pytest.mark.parametrize(
    ("text", "source", "missing"),
    [
        ("a gain of 12.5%", r"a gain of 12.50\% over", []),
        ("a gain of 12.5%", "a gain of 12.46", ["12.5"]),
        ("on 1,250 images", "on $1{,}250$ images", []),
        ("refs 1 and 234", "refs [1,234]", []),
        ("0.5 and .25", ".5, 0.250", []),
        ("a 7B model, 3e-4", "the 7B model at 3e-4", []),
        ("007 agents", "7 agents", []),
        ("in 2024, 3 times, 3 times", "once", ["2024", "3"]),
    ],
)
def test_numbers_as_papers_write_them(text: str, source: str, missing: list[str]) -> None:
    assert missing_numbers(text, source) == missing


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=12), st.integers(1, 4))
def test_word_runs_are_all_windows(said: list[str], length: int) -> None:
    expected = {" ".join(said[i : i + length]) for i in range(len(said)) if i + length <= len(said)}
    assert runs(", ".join(said), length) == expected
