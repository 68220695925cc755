"""Sentences of running prose: wrapped lines, verses, lists, and text without spaces."""

import itertools
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.passages import LONGEST, prose_sentences

PROSE = (
    "The old sailor walked to the harbour at Dover before the rain came. Nobody had asked him to go there, and he "
    "said nothing. Anna heard of it in the grey morning, while the clocks of the town struck nine and the train left."
)


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in prose_sentences(text)]


@pytest.mark.parametrize("width", [60, 72, 100])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_wrapped_lines_are_one_sentence(width: int, newline: str) -> None:
    wrapped = newline.join(textwrap.wrap(PROSE, width))
    assert [" ".join(part.split()) for part in parts(wrapped)] == parts(PROSE)
    assert len(parts(PROSE)) == 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("CHAPTER I\nIt was late.", ["CHAPTER I", "It was late."]),
        ("Roses are red\nViolets are blue", ["Roses are red", "Violets are blue"]),
        ("He went home\nand slept.", ["He went home\nand slept."]),
        (f"{'One long line with a list behind it follows'}\n- one\n- two", None),
        ("First part.\n\nand second", ["First part.", "and second"]),
        ("昔々。ある日、「行こう。」と言った", ["昔々。", "ある日、「行こう。」", "と言った"]),
    ],
)
def test_other_line_breaks_and_marks_end_a_sentence(text: str, found: list[str] | None) -> None:
    assert parts(text) == (text.split("\n") if found is None else found)


def test_lines_without_full_stops_are_not_joined_without_end() -> None:
    table = "\n".join("apples and pears and plums and cherries and nuts" for _ in range(200))
    assert len(parts(table)) == 200
    assert max(map(len, parts("\n".join([PROSE] * 40)))) <= LONGEST


@given(text=st.text(alphabet="Aab.!。」 \n\t-", max_size=200))
def test_every_character_is_in_exactly_one_sentence(text: str) -> None:
    spans = prose_sentences(text)
    assert all(start < end and not text[start].isspace() and not text[end - 1].isspace() for start, end in spans)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(spans))
    covered = {at for start, end in spans for at in range(start, end)}
    assert all(at in covered or text[at].isspace() for at in range(len(text)))
