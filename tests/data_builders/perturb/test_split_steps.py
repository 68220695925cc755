"""Steps cover any reference in order, with exact offsets."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.text_units.steps import (
    Step,
    body_sentences,
    body_start,
    sentences,
    split_steps,
)

LINES = st.lists(
    st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["", "1. ", "2) ", "- ", "  - ", "   • ", "(a) ", "**Plan:** ", "\t"]),
            st.text(alphabet='ab AB.1,;:!?()*"“é§\u00a0', max_size=40),
        ),
    ),
    max_size=14,
).map("\n".join)


def check_cover(text: str) -> None:
    steps = split_steps(text)
    assert [step.index for step in steps] == list(range(len(steps)))
    for step in steps:
        assert step.text == text[step.start : step.end]
        assert step.text == step.text.strip() != ""
    ends = [0, *(step.end for step in steps)]
    starts = [*(step.start for step in steps), len(text)]
    for end, start in zip(ends, starts, strict=True):
        assert end <= start
        assert not text[end:start].strip()


@given(LINES)
def test_steps_cover_structured_text(text: str) -> None:
    check_cover(text)


@given(st.text(max_size=300))
def test_steps_cover_any_text(text: str) -> None:
    check_cover(text)


@given(LINES)
def test_body_and_its_sentences_lie_inside_the_step(text: str) -> None:
    for step in split_steps(text):
        assert 0 <= body_start(step) <= len(step.text)
        spans = body_sentences(step, min_words=1)
        assert all(body_start(step) <= start < end <= len(step.text) for start, end in spans)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))


def test_sub_bullets_are_separate_steps() -> None:
    text = "- **Aims:**\n  1. Relieve the pain.\n  2. Save the nerve.\n- **Reason:** The mass grows."
    assert [step.text for step in split_steps(text)] == text.replace("\n  ", "\n").split("\n")


@pytest.mark.parametrize(
    "sentence",
    [
        "See Golder v. the United Kingdom, no. 4451/70, § 35.",
        "Dr. Novak and Prof. Kim, i.e. both doctors, were heard.",
        "As Smith et al. (2009) and Fig. 2 show, it holds.",
        "K. A. Novak was heard.",
    ],
)
def test_abbreviations_do_not_end_a_sentence(sentence: str) -> None:
    text = f"{sentence} It was late in 2001. The end."
    assert [text[a:b] for a, b in sentences(text)] == [sentence, "It was late in 2001.", "The end."]


@pytest.mark.parametrize(
    "found", [("2. He left.", "She stayed."), ("He left\nat noon.", "She stayed."), ("It was 9 mmHg.", "CT was done.")]
)
def test_numbering_wrapped_lines_and_units(found: tuple[str, str]) -> None:
    text = " ".join(found)
    assert [text[a:b] for a, b in sentences(text)] == list(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1. **Lipoma:** Excluded by age.", "Excluded by age."),
        ("- Rationale: It grows.", "It grows."),
        ("  (a) It grows.", "It grows."),
        ("It grows.", "It grows."),
    ],
)
def test_body_starts_after_numbering_and_heading(text: str, words: str) -> None:
    step = Step(0, 0, len(text), text)
    assert re.sub(r"^\s+", "", text[body_start(step) :]) == words
