"""A teacher's answer is read strictly: every wanted number comes out once, as a variant or with the reason why not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.perturb.teacher.answer_parser import Kind, Rejection, Variant, read_answer, unasked

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n{}`*_=-#", exclude_categories=["Cc", "Zl", "Zp"]))
TEXTS = st.lists(LINES, min_size=1, max_size=4).map("\n".join).map(str.strip).filter(bool)
LISTS = st.lists(st.integers(1, 6), min_size=2, max_size=6, unique=True)


def header_free(text: str) -> bool:
    return not re.search(r"flawed variant|violated principles", text, re.IGNORECASE)


@given(st.dictionaries(st.integers(1, 9), st.tuples(TEXTS.filter(header_free), LISTS), min_size=1), st.booleans())
def test_what_is_written_in_the_form_is_read_back(variants: dict[int, tuple[str, list[int]]], multi: bool) -> None:
    kind: Kind = "multi" if multi else "single"
    lists = {k: f"Violated Principles: {listed}\n" if multi else "" for k, (_, listed) in variants.items()}
    answer = "\n\n".join(f"Flawed Variant {k}:\n{lists[k]}{text}" for k, (text, _) in variants.items())
    read, rejections = read_answer(answer, sorted(variants), kind)
    assert rejections == []
    assert read == [Variant(k, variants[k][0], tuple(variants[k][1]) if multi else ()) for k in sorted(variants)]


@given(
    st.lists(
        st.sampled_from(["Flawed Variant", " 1", " 2", ":", "\n", "Violated Principles: ", "[1, 3]", "x", "**", "{"])
    ),
    st.booleans(),
    st.booleans(),
)
def test_whatever_comes_each_wanted_number_comes_out_once(parts: list[str], multi: bool, finished: bool) -> None:
    read, rejections = read_answer("".join(parts), [1, 2, 3], "multi" if multi else "single", finished=finished)
    assert sorted([v.number for v in read] + [r.number for r in rejections]) == [1, 2, 3]
    assert all(variant.text.strip() for variant in read)


@pytest.mark.parametrize(
    "answer",
    [
        "Flawed Variant 1:\n1. a\n2. b",
        "Flawed Variant 1: 1. a\n2. b",
        "**Flawed Variant 1:**\n1. a\n2. b\n\n---\n",
        "## Flawed Variant 1\n\n1. a\n2. b\n```\n",
        "I shall first look at the case.\n\nFlawed Variant 1:\n{1. a\n2. b}",
    ],
)
def test_decorations_are_no_part_of_a_variant(answer: str) -> None:
    [variant], rejections = read_answer(answer, [1], "single")
    assert (variant.text.strip(), rejections) == ("1. a\n2. b", [])


@pytest.mark.parametrize(
    "answer",
    [
        "Flawed Variant 1: Violated Principles: [3, 1], 1. a",
        "Flawed Variant 1:\nViolated Principles: [3, 1]\n\n1. a",
        "**Flawed Variant 1:**\n**Violated Principles:** [P3, P1].\n1. a",
    ],
)
def test_the_list_of_a_multi_variant_keeps_its_order(answer: str) -> None:
    [variant], rejections = read_answer(answer, [1], "multi")
    assert (variant.listed, variant.text.strip(), rejections) == ((3, 1), "1. a", [])


@pytest.mark.parametrize(
    ("answer", "kind", "reason"),
    [
        ("", "single", "the variant is missing"),
        ("Flawed Variant 2:\nx", "single", "the variant is missing"),
        ("The Flawed Variant 1 would be hard to write.", "single", "the variant is missing"),
        ("Flawed Variant 1:\nx\nFlawed Variant 1:\ny", "single", "the variant is given twice"),
        ("Flawed Variant 1:\n\n---\n", "single", "the variant is empty"),
        ("Flawed Variant 1:\nx", "multi", "no list of principles"),
        ("Flawed Variant 1:\nViolated Principles: 1 and 3\nx", "multi", "the list of principles cannot be read"),
        ("Flawed Variant 1:\nViolated Principles: [1, 7]\nx", "multi", "not two or more of the six"),
        ("Flawed Variant 1:\nViolated Principles: [2, 2]\nx", "multi", "not two or more of the six"),
        ("Flawed Variant 1:\nViolated Principles: [2]\nx", "multi", "not two or more of the six"),
    ],
)
def test_what_cannot_be_read_is_named(answer: str, kind: Kind, reason: str) -> None:
    read, [rejection] = read_answer(answer, [1], kind)
    assert read == []
    assert reason in rejection.reason


def test_a_cut_answer_loses_its_last_variant_only() -> None:
    read, rejections = read_answer("Flawed Variant 1:\na\n\nFlawed Variant 2:\nb", [1, 2, 3], "single", finished=False)
    assert [variant.text for variant in read] == ["a"]
    assert [(r.number, r.reason) for r in rejections] == [(2, "the answer was cut"), (3, "the variant is missing")]
    _, [cut] = read_answer("Let me think", [1], "single", finished=False)
    assert isinstance(cut, Rejection)
    assert cut.reason == "the answer was cut"


def test_variants_that_nobody_asked_for_are_counted() -> None:
    assert unasked("Flawed Variant 1:\na\nFlawed Variant 6:\nb", [1, 2]) == [6]
