"""The scanner's invariants, on any text."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.judges.memo.text_model import FIRST_CONTEXT, WordCounter, scan
from retrieval.passages import prose_sentences

TEXTS = st.lists(
    st.lists(st.sampled_from(["We", "saw", "it.", "Then", "Rain", "fell!", "\n\n", "Dr.", "Who?"]), max_size=40).map(
        " ".join
    ),
    max_size=4,
).map("\n".join)
COUNTER = WordCounter()


@given(text=TEXTS, limit=st.integers(1, 12), overlap=st.sampled_from([0.0, 0.1, 0.5, 0.9]))
def test_sections_partition_the_text(text: str, limit: int, overlap: float) -> None:
    found = scan(text, COUNTER, limit, overlap)
    spans = prose_sentences(text)
    assert [section.number for section in found] == list(range(1, len(found) + 1))
    assert all(section.text == text[section.start : section.end] for section in found)
    assert all(one.end <= two.start for one, two in itertools.pairwise(found)), "in order and disjoint"
    covered = {at for section in found for at in range(section.start, section.end)}
    assert all(at in covered or text[at].isspace() for at in range(len(text)))
    for section in found:
        inside = [span for span in spans if section.start <= span[0] < section.end]
        assert COUNTER.count(section.text) <= limit or len(inside) == 1
    assert len(found) >= math.ceil(COUNTER.count(text) / max(limit, 1)) or any(
        COUNTER.count(section.text) > limit for section in found
    )


@given(text=TEXTS, limit=st.integers(1, 12), overlap=st.sampled_from([0.1, 0.5, 0.9]))
def test_the_context_is_the_end_of_the_section_before(text: str, limit: int, overlap: float) -> None:
    found = scan(text, COUNTER, limit, overlap)
    if len(found) < 2:
        assert all(section.context is None for section in found)
        return
    assert found[0].context == FIRST_CONTEXT
    kept = int(limit * overlap)
    for before, section in itertools.pairwise(found):
        assert section.context == "..." + (" ".join(before.text.split()[-kept:]) if kept else "")


def test_hard_mode_has_no_context_and_none_is_one_section() -> None:
    text = "One two. Three four. Five six."
    assert [section.text for section in scan(text, COUNTER, 4)] == ["One two. Three four.", "Five six."]
    assert all(section.context is None for section in scan(text, COUNTER, 2))
    assert [(section.text, section.context) for section in scan(text, COUNTER, None, 0.5)] == [(text, None)]


def test_a_long_sentence_is_a_section_of_its_own() -> None:
    text = "Short. This sentence is longer than three words. Short."
    assert [section.text for section in scan(text, COUNTER, 3)] == [
        "Short.",
        "This sentence is longer than three words.",
        "Short.",
    ]


@pytest.mark.parametrize(("limit", "overlap"), [(0, 0.1), (5, 1.0), (5, -0.1)])
def test_impossible_settings_are_errors(limit: int, overlap: float) -> None:
    with pytest.raises(ValueError, match="must be"):
        scan("One.", COUNTER, limit, overlap)


def test_text_without_spaces_is_cut_into_sections() -> None:
    text = "昔々、お爺さんがいた。" * 40
    found = scan(text, COUNTER, 50, 0.1)
    assert [COUNTER.count(section.text) for section in found] == [44] * 10
    assert found[1].context == "...いた。昔"[:3] + text[39:44]


@given(text=st.text(alphabet="ab \n\t昔々。", max_size=60), tokens=st.integers(0, 9))
def test_a_word_is_a_run_without_spaces_or_one_ideograph(text: str, tokens: int) -> None:
    spaced = "".join(f" {sign} " if sign in "昔々。" and sign != "。" else sign for sign in text)
    if "。" not in text:
        assert COUNTER.count(text) == len(spaced.split())
    assert COUNTER.count(COUNTER.tail(text, tokens)) == min(tokens, COUNTER.count(text))
