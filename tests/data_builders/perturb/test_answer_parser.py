"""The parser returns every wanted number once: as a variant, or as a rejection with a reason."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.perturb.teacher.answer_parser import (
    DECLINED,
    NO_PLACE,
    Kind,
    Rejection,
    Variant,
    parse_answer,
    unrequested_variants,
)

LINES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n{}`*_=-#", exclude_categories=["Cc", "Zl", "Zp"]))
TEXTS = st.lists(LINES, min_size=1, max_size=4).map("\n".join).map(str.strip).filter(bool)
LISTS = st.lists(st.integers(1, 6), min_size=2, max_size=6, unique=True)


def header_free(text: str) -> bool:
    return not re.search(r"flawed variant|violated principles", text, re.IGNORECASE)


@given(st.dictionaries(st.integers(1, 9), st.tuples(TEXTS.filter(header_free), LISTS), min_size=1), st.booleans())
def test_a_well_formed_answer_is_parsed(variants: dict[int, tuple[str, list[int]]], multi: bool) -> None:
    kind: Kind = "multi" if multi else "single"
    lists = {k: f"Violated Principles: {listed}\n" if multi else "" for k, (_, listed) in variants.items()}
    answer = "\n\n".join(f"Flawed Variant {k}:\n{lists[k]}{text}" for k, (text, _) in variants.items())
    read, rejections = parse_answer(answer, sorted(variants), kind)
    assert rejections == []
    assert read == [Variant(k, variants[k][0], tuple(variants[k][1]) if multi else ()) for k in sorted(variants)]


@given(
    st.lists(
        st.sampled_from(["Flawed Variant", " 1", " 2", ":", "\n", "Violated Principles: ", "[1, 3]", "x", "**", "{"])
    ),
    st.booleans(),
    st.booleans(),
)
def test_any_answer_yields_each_wanted_number_once(parts: list[str], multi: bool, finished: bool) -> None:
    read, rejections = parse_answer("".join(parts), [1, 2, 3], "multi" if multi else "single", finished=finished)
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
def test_decorations_are_removed(answer: str) -> None:
    [variant], rejections = parse_answer(answer, [1], "single")
    assert (variant.text.strip(), rejections) == ("1. a\n2. b", [])


BOTH = [Variant(1, "He paid.\nSo he won."), Variant(2, "She paid.\nSo she won.")]


@pytest.mark.parametrize(
    "answer",
    [
        "Variant 1:\nHe paid.\nSo he won.\n\n**Variant 2:**\nShe paid.\nSo she won.",
        "### Altered version #1\nHe paid.\nSo he won.\n### Altered version #2\nShe paid.\nSo she won.",
        "1. **Reasoning 1** (first step):\nHe paid.\nSo he won.\n2. **Reasoning 2**:\nShe paid.\nSo she won.",
        "Flawed Variant 1:\n```text\nHe paid.\nSo he won.\n```\nFlawed Variant 2:\n```\nShe paid.\nSo she won.\n```",
        '{"Flawed Variant 1": "He paid.\\nSo he won.", "Flawed Variant 2": ["She paid.", "So she won."]}',
        '```json\n["He paid.\nSo he won.", "She paid.\nSo she won."]\n```',
        '[{"number": 2, "text": "She paid.\\nSo she won."}, {"number": 1, "text": "He paid.\\nSo he won."}]',
        'Of course:\n```\n[{"variant": "He paid.\\nSo he won."}, {"variant": "She paid.\\nSo she won."}]\n```\nBye.',
        "1. He paid.\nSo he won.\n2. She paid.\nSo she won.",
    ],
)
def test_other_clear_layouts_are_read(answer: str) -> None:
    assert parse_answer(answer, [1, 2], "single", reference="He did pay.\nSo he won.") == (BOTH, [])


@pytest.mark.parametrize(
    "answer",
    [
        "Violated Principles: [3, 1]\n1. He paid.\n2. He won.",
        '{"violated_principles": ["P3", "P1"], "reasoning": "1. He paid.\\n2. He won."}',
        '[{"variant": 4, "principles": [3, 1], "text": "1. He paid.\\n2. He won."}]',
        "Version 4\nViolated Principles: [3, 1]\n1. He paid.\n2. He won.",
    ],
)
def test_one_variant_of_several_principles_needs_no_heading(answer: str) -> None:
    read, rejections = parse_answer(answer, [4], "multi", reference="1. He did pay.\n2. He won.")
    assert rejections == []
    assert [(v.number, v.text.strip(), v.principles) for v in read] == [(4, "1. He paid.\n2. He won.", (3, 1))]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("1. He paid.\n2. He won.", "its numbers may be those of variants or of steps"),
        ('["1. He paid.\\n2. He won."]', "1 texts for 2 variants"),
        ('{"1": "a", "1": "b"}', "a key twice"),
        ('[{"number": 1, "text": "a"}, {"text": "b"}]', "does not number each"),
        ('[{"number": 1, "before": "a", "after": "b"}, {"number": 2, "before": "c", "after": "d"}]', "fields number"),
        ('{"1": 5, "2": null}', "something other than a text"),
    ],
)
def test_answers_with_two_readings_are_rejected(answer: str, why: str) -> None:
    read, rejections = parse_answer(answer, [1, 2], "single", reference="1. He did pay.\n2. He won.")
    assert read == []
    assert [r.reason for r in rejections] == ["the answer is unclear"] * 2
    assert why in rejections[0].detail


@pytest.mark.parametrize(
    "said",
    [
        "NO PLACE",
        "**No place.**",
        "[NO PLACE]\n---",
        "`NO PLACE`",
        "NO PLACE\nIt is too short.",
        "NO PLACE: too short.",
    ],
)
def test_a_teacher_may_say_that_a_flaw_has_no_place(said: str) -> None:
    answer = f"Flawed Variant 1:\nHe paid.\nSo he won.\n\nFlawed Variant 2:\n{said}"
    read, rejections = parse_answer(answer, [1, 2], "single")
    assert (read, [(r.number, r.reason) for r in rejections]) == (BOTH[:1], [(2, NO_PLACE)])
    for head in ("", "Violated Principles: [2, 5]\n", "Violated Principles: "):
        _, rejections = parse_answer(f"Flawed Variant 1:\n{head}{said}", [1], "multi")
        assert [r.reason for r in rejections] == [NO_PLACE]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("NO PLACE: no step of it gives advice.", NO_PLACE),
        ("I'm sorry, but I can't help with that.", DECLINED),
        ("I cannot write text that is unfair to people.", DECLINED),
        ("Unfortunately, I am unable to do this.", DECLINED),
        ("He paid, so I cannot see why.", "the variant is missing"),
    ],
)
@pytest.mark.parametrize("kind", ["single", "multi"])
def test_an_answer_without_variants_says_why(answer: str, reason: str, kind: Kind) -> None:
    assert [r.reason for r in parse_answer(answer, [1, 2], kind)[1]] == [reason] * 2


def test_no_place_alone_is_the_answer_for_all_variants() -> None:
    assert [r.reason for r in parse_answer(" NO PLACE\n", [1, 2], "single")[1]] == [NO_PLACE] * 2
    assert [r.reason for r in parse_answer("```\nNO PLACE\n```", [1], "single")[1]] == [NO_PLACE]
    assert [r.reason for r in parse_answer("There is NO PLACE here", [1], "single")[1]] == ["the variant is missing"]


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda v: st.lists(v) | st.dictionaries(st.text(max_size=9), v),
        max_leaves=9,
    )
)
def test_any_json_yields_each_wanted_number_once(value: object) -> None:
    read, rejections = parse_answer(json.dumps(value), [1, 2], "multi", reference="x")
    assert sorted([v.number for v in read] + [r.number for r in rejections]) == [1, 2]


@pytest.mark.parametrize(
    "answer",
    [
        "Flawed Variant 1: Violated Principles: [3, 1], 1. a",
        "Flawed Variant 1:\nViolated Principles: [3, 1]\n\n1. a",
        "**Flawed Variant 1:**\n**Violated Principles:** [P3, P1].\n1. a",
    ],
)
def test_the_list_of_a_multi_variant_keeps_its_order(answer: str) -> None:
    [variant], rejections = parse_answer(answer, [1], "multi")
    assert (variant.principles, variant.text.strip(), rejections) == ((3, 1), "1. a", [])


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
def test_unreadable_variants_are_rejected_with_a_reason(answer: str, kind: Kind, reason: str) -> None:
    read, [rejection] = parse_answer(answer, [1], kind)
    assert read == []
    assert reason in rejection.reason


def test_a_truncated_answer_loses_only_its_last_variant() -> None:
    read, rejections = parse_answer("Flawed Variant 1:\na\n\nFlawed Variant 2:\nb", [1, 2, 3], "single", finished=False)
    assert [variant.text for variant in read] == ["a"]
    assert [(r.number, r.reason) for r in rejections] == [
        (2, "the answer was truncated"),
        (3, "the variant is missing"),
    ]
    _, [cut] = parse_answer("Let me think", [1], "single", finished=False)
    assert isinstance(cut, Rejection)
    assert cut.reason == "the answer was truncated"


def test_variants_that_were_not_requested_are_counted() -> None:
    assert unrequested_variants("Flawed Variant 1:\na\nFlawed Variant 6:\nb", [1, 2]) == [6]
