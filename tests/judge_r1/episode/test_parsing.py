import json
from typing import Any, get_args

import pytest
from factories import make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.jsonl import dump_line
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.parsing import Reason, Rejected, parse_strict, parse_tolerant

GOOD = {"comparison": "A>B", "violated_principles": [2, 5]}
COMPARISONS = st.sampled_from(["A>B", "A<B"])
NUMBERS = st.lists(st.integers(1, 6), unique=True)
TEXT = st.text(st.characters(codec="utf-8"))
SPACE = st.text(" \t\n\r", max_size=3)


def text(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


@given(COMPARISONS, NUMBERS, st.none() | TEXT, SPACE, st.booleans(), st.booleans())
def test_strict_accepts_any_layout_of_a_valid_answer(
    comparison: str, numbers: list[int], explanation: str | None, space: str, ascii_only: bool, indent: bool
) -> None:
    answer: dict[str, Any] = {"violated_principles": numbers, "comparison": comparison}
    if explanation is not None:
        answer["explanation"] = explanation
    written = space + json.dumps(answer, ensure_ascii=ascii_only, indent=2 if indent else None) + space
    expected = Judgment(
        comparison=comparison,  # type: ignore[arg-type]
        violated_principles=tuple(sorted(numbers)),
        explanation=explanation,
    )
    assert parse_strict(written) == expected
    assert parse_tolerant(written) == expected


STRICT_REJECTIONS = [
    ("", "no_json"),
    ("A>B", "no_json"),
    (text()[:-1], "no_json"),
    (text() + ".", "no_json"),
    (text() + text(), "no_json"),
    ("Answer: " + text(), "no_json"),
    (f"```json\n{text()}\n```", "no_json"),
    (text().replace('"', "'"), "no_json"),
    ("\ufeff" + text(), "no_json"),
    ("\u00a0" + text(), "no_json"),
    ('{"comparison": "A>B", "violated_principles": [2],}', "no_json"),
    ('{"a":' * 50_000, "no_json"),
    (f'{{"comparison": "A>B", "violated_principles": [{"9" * 5000}]}}', "no_json"),
    (f"[{text()}]", "not_an_object"),
    ('"A>B"', "not_an_object"),
    ("null", "not_an_object"),
    ("NaN", "not_an_object"),
    ('{"comparison": "A>B", "comparison": "A<B", "violated_principles": [2]}', "repeated_key"),
    ('{"comparison": "A>B", "violated_principles": [2], "explanation": {"x": 1, "x": 1}}', "repeated_key"),
    ("{}", "missing_key"),
    ('{"comparison": "A>B"}', "missing_key"),
    ('{"violated_principles": [2]}', "missing_key"),
    (text(confidence=1), "unknown_key"),
    (text(Comparison="A>B"), "unknown_key"),
    *((text(comparison=c), "bad_comparison") for c in ["A > B", "B>A", "a>b", "A=B", "A", "", None, True, ["A>B"], {}]),
    *(
        (text(violated_principles=v), "bad_principles")
        for v in [None, 2, "2", "P2", {}, [0], [7], [-1], [True], [2.0], ["2"], [None], [[2]], [2, 2], [10**30]]
    ),
    ('{"comparison": "A>B", "violated_principles": [NaN]}', "bad_principles"),
    *((text(explanation=e), "bad_explanation") for e in [None, 3, ["x"], {"x": 1}]),
    ('{"comparison": "A>B", "violated_principles": [2], "explanation": "\\ud800"}', "bad_explanation"),
]


@pytest.mark.parametrize(("written", "reason"), STRICT_REJECTIONS)
def test_strict_names_each_rejection(written: str, reason: str) -> None:
    rejected = parse_strict(written)
    assert isinstance(rejected, Rejected), written[:80]
    assert rejected.reason == reason
    assert isinstance(rejected.detail, str)


def test_every_reason_is_tested() -> None:
    table6_only = {"not_two_lines"}
    conversations_only = {"bad_round", "bad_problem_type", "bad_verdict"}  # test_located_answer.py
    others = table6_only | conversations_only
    assert {reason for _, reason in STRICT_REJECTIONS} == set(get_args(Reason)) - others


@pytest.mark.parametrize(
    ("written", "comparison", "numbers"),
    [
        (f"```json\n{text()}\n```", "A>B", (2, 5)),
        (f"So:\n\n{text()}\nThat is all.", "A>B", (2, 5)),
        (f"{text()} no, rather {text(comparison='A<B')}", "A<B", (2, 5)),
        (text(comparison=" a > b "), "A>B", (2, 5)),
        (text(comparison="B>A"), "A<B", (2, 5)),
        (text(comparison="B < A"), "A>B", (2, 5)),
        (text(violated_principles=["P3", "2", 1.0, " p3 ", 2]), "A>B", (1, 2, 3)),
        (text(violated_principles="P4"), "A>B", (4,)),
        (text(violated_principles=4), "A>B", (4,)),
        (text(violated_principles=[]), "A>B", ()),
        (text(confidence=0.5, notes={"a": [1]}), "A>B", (2, 5)),
        (text(explanation=3), "A>B", (2, 5)),
        ("{broken {" + text(), "A>B", (2, 5)),
        (f"[{text()}]", "A>B", (2, 5)),
    ],
)
def test_tolerant_accepts_other_spellings(written: str, comparison: str, numbers: tuple[int, ...]) -> None:
    judgment = parse_tolerant(written)
    assert isinstance(judgment, Judgment), written
    assert (judgment.comparison, judgment.violated_principles) == (comparison, numbers)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "no_json"),
        ("A>B, principles 2 and 5", "no_json"),
        (text()[:-1], "no_json"),
        ("{" * 5000, "no_json"),
        ('{"a":' * 3000, "no_json"),
        ("[1, 2]", "no_json"),
        ("{}", "missing_key"),
        ('{"comparison": "A>B"}', "missing_key"),
        *((text(comparison=c), "bad_comparison") for c in ["A>A", "A=B", "tie", 1, None, "A>B>A"]),
        *(
            (text(violated_principles=v), "bad_principles")
            for v in [[0], ["P7"], [2.5], [True], [None], None, "2 and 5"]
        ),
    ],
)
def test_tolerant_names_each_rejection(written: str, reason: str) -> None:
    rejected = parse_tolerant(written)
    assert isinstance(rejected, Rejected)
    assert rejected.reason == reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["A>B", "P2"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["comparison", "violated_principles", "explanation", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)
PIECES = [
    '{"comparison"',
    ": ",
    '"A>B"',
    ", ",
    '"violated_principles"',
    "[2]",
    "}",
    "{",
    '"',
    "\\ud800",
    "\\",
    "```",
    "NaN",
]
ANYTHING = (
    st.text()
    | st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=12).map("".join)
    | JSON.map(json.dumps)
    | st.fixed_dictionaries({"comparison": JSON, "violated_principles": JSON, "explanation": JSON}).map(json.dumps)
)


@given(ANYTHING)
def test_parsers_never_raise_and_tolerant_accepts_what_strict_accepts(written: str) -> None:
    """The tolerant parser agrees with the strict one; every judgment can be encoded as UTF-8."""
    strict, tolerant = parse_strict(written), parse_tolerant(written)
    if isinstance(strict, Judgment):
        assert tolerant == strict
    for verdict in (strict, tolerant):
        if isinstance(verdict, Judgment):
            dump_line(verdict).encode()
            assert set(verdict.violated_principles) <= set(range(1, 7))


def test_gold_judgments_round_trip() -> None:
    for numbers in ([1], [6], [1, 2, 3, 4, 5, 6], [2, 4]):
        pair = make_pair(make_case(), violated=numbers)
        written = json.dumps({"comparison": pair.gold.comparison, "violated_principles": numbers})
        assert parse_strict(written) == parse_tolerant(written) == pair.gold
