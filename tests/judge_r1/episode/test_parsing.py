import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.verdicts import Judgment
from judge_r1.episode.parsing import Rejected, parse_last_object, parse_strict, parse_tolerant
from judge_r1.files.jsonl import dump_line

GOOD = {"comparison": "A>B", "violated_principles": [2, 5]}
COMPARISONS = st.sampled_from(["A>B", "A<B"])
NUMBERS = st.lists(st.integers(1, 6), unique=True)
TEXT = st.text(st.characters(codec="utf-8"))
SPACE = st.text(" \t\n\r", max_size=3)


def text(**changes: Any) -> str:
    return json.dumps(GOOD | changes)


def reason_of(found: Judgment | Rejected) -> str | None:
    return found.reason if isinstance(found, Rejected) else None


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
    assert (rejected.reason, type(rejected.detail)) == (reason, str)


SPELLINGS = [
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
]


@pytest.mark.parametrize(("written", "comparison", "numbers"), SPELLINGS)
@pytest.mark.parametrize("parse", [parse_last_object, parse_tolerant])
def test_both_parsers_of_answers_without_tags_accept_other_spellings(
    parse: Any, written: str, comparison: str, numbers: tuple[int, ...]
) -> None:
    judgment = parse(written)
    assert isinstance(judgment, Judgment), written
    assert (judgment.comparison, judgment.violated_principles) == (comparison, numbers)


NO_COMPARISON = [
    ("", "no_json"),
    (text()[:-1], "no_json"),
    ("{" * 5000, "no_json"),
    ('{"a":' * 3000, "no_json"),
    ("[1, 2]", "no_json"),
    ("{}", "missing_key"),
    *((text(comparison=c), "bad_comparison") for c in ["A>A", "A=B", "tie", 1, None, "A>B>A"]),
]


@pytest.mark.parametrize(("written", "reason"), NO_COMPARISON)
@pytest.mark.parametrize("parse", [parse_last_object, parse_tolerant])
def test_both_parsers_of_answers_without_tags_name_each_rejection(parse: Any, written: str, reason: str) -> None:
    assert reason_of(parse(written)) == reason


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("A>B, principles 2 and 5", "no_json"),
        ('{"comparison": "A>B"}', "missing_key"),
        (f'{text()}\n{{"confidence": 0.9}}', "missing_key"),
        (text().replace("[2, 5]", "[2, 5,]"), "no_json"),
        (text(comparison="A is better"), "bad_comparison"),
        *(
            (text(violated_principles=v), "bad_principles")
            for v in [[0], ["P7"], [2.5], [True], [None], None, "2 and 5", "Groundedness"]
        ),
    ],
)
def test_the_reward_does_not_read_what_the_tolerant_parser_does(written: str, reason: str) -> None:
    """The parser of rewards for prompts without tags. What it rejects here, an evaluation understands."""
    assert reason_of(parse_last_object(written)) == reason
    assert isinstance(parse_strict(written), Rejected)
    assert isinstance(parse_tolerant(written), Judgment)


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (["2. Factual Consistency"], (2,)),
        (["Factual Consistency", "bias & fairness", "P4 (Groundedness)"], (2, 3, 4)),
        ("2, 4", (2, 4)),
        ("P2; P4", (2, 4)),
        ("2 and 5", (2, 5)),
        ("2-4", ()),
        ("Bias and Fairness, and Groundedness.", (3, 4)),
        (["2. Factual Consistency: states 3 mg, and 4 times"], (2,)),
        ("Principle 6 - advises a dangerous dose", (6,)),
        ([{"principle": 2, "why": "3 mg"}, {"principle": "P5"}], (2, 5)),
        ({"P2": True, "P3": False, "4": "invented"}, (2, 4)),
        ([[1], [6]], (1, 6)),
        ([2, 7, "P9", "none"], (2,)),
        (["2. Bias and Fairness"], ()),
        (["3 mg were given"], ()),
        (None, ()),
        ("None", ()),
        ("", ()),
        ([0], ()),
        ([True], ()),
        ([2.5], ()),
        (12, ()),
        ("unclear", ()),
    ],
)
def test_tolerant_reads_principles_and_never_loses_the_comparison(value: Any, numbers: tuple[int, ...]) -> None:
    judgment = parse_tolerant(text(violated_principles=value))
    assert isinstance(judgment, Judgment)
    assert (judgment.comparison, judgment.violated_principles) == ("A>B", numbers)


BARE = '"comparison": "A<B", "violated_principles": [2]'


@pytest.mark.parametrize(
    "written",
    [
        "{" + BARE.replace(" ", "\u00a0") + "}",
        "{\u200b" + BARE.replace(": ", ":\t") + "\u3000}",
        "{" + BARE + ', "explanation": "by \\(x\\), \\sqrt{2} and \\u"}',
        "{" + BARE + ', "explanation": "two\nlines\tand a tab"}',
        "{" + BARE + ', "explanation": "B says "yes" to it"}',
        "{" + BARE.replace("[2]", "[2,]") + ",}",
        "{" + BARE.replace('"', "'") + ", 'explanation': 'It's wrong'}",
        "{" + BARE.replace('"', "\u201c", 1).replace('":', "\u201d:", 1) + "}",
        "{\u201ccomparison\u201d: \u201cA<B\u201d, \u201cviolated_principles\u201d: [2]}",
        "{comparison: A<B, violated_principles: [2]}",
        "{" + BARE + ', "sure": True, "note": None, "p": .9, "q": +1}',
        "{" + BARE.replace(", ", ", // the worse one\n", 1) + " /* so */}",
        '{"Comparison": "B is better", "Violated Principles": [2]}',
        '{"answer": {' + BARE + "}}",
        '{"result": [{' + BARE + '}], "ok": true}',
        "{" + BARE.replace("A<B", "Answer A < Answer B") + "}",
        "{" + BARE.replace("A<B", "**B > A**, clearly") + "}",
        "{" + BARE.replace("A<B", "A&lt;B") + "}",
        "{" + BARE.replace("A<B", "\uff21\uff1c\uff22") + "}",
        "{" + BARE.replace('"A<B"', '["A<B"]') + "}",
        "{" + BARE.replace(",", " // the worse one\n,", 1) + "}",
        "{" + BARE + '}\n{"confidence": .9}\n{"confidence": 0.9}',
        "{" + BARE + '}\nFormat: {"comparison": "A>B or A<B", "violated_principles": [numbers]}',
        "{" + BARE + '}\nFor example:\n```json\n{"comparison": "A>B", "violated_principles": [5]}\n```',
        '{"comparison": "A>B", "violated_principles": [5]}\nOn reflection:\n{' + BARE + "}",
        '{"comparison": "A>B", "violated_principles": [5]}\nOn reflection:\n{' + BARE + ",}",
        "**A<B**\nviolated_principles: [2]",
        "B>A\nViolated principles: 2. Factual Consistency",
    ],
)
def test_tolerant_reads_what_a_person_understands(written: str) -> None:
    judgment = parse_tolerant(written)
    assert isinstance(judgment, Judgment), judgment
    assert (judgment.comparison, judgment.violated_principles) == ("A<B", (2,))
    assert isinstance(parse_strict(written), Rejected)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ('{"comparison": "A>B", "comparison": "A<B", "violated_principles": [2]}', "contradiction"),
        ('{"comparison": "A>B", "Comparison": "A<B"}', "contradiction"),
        (text(comparison="A>B or A<B"), "contradiction"),
        (text() + text(comparison="A<B"), "contradiction"),
        (f"```json\n{text()}\n```\n```json\n{text(comparison='B>A')}\n```", "contradiction"),
        (f"[{text()}, {text(comparison='A<B')}]", "contradiction"),
        ('{"a": {"comparison": "A>B"}, "b": {"comparison": "A<B"}}', "contradiction"),
        (f"{text()} no, they are equal: {text(comparison='A=B')}", "bad_comparison"),
        (text(comparison="not A>B"), "bad_comparison"),
        ("I prefer neither.", "no_json"),
        ('{"comparison": "A>B" "violated_principles": [2]}', "no_json"),
    ],
)
def test_tolerant_never_tosses_a_coin(written: str, reason: str) -> None:
    assert reason_of(parse_tolerant(written)) == reason


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["A>B", "P2"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["comparison", "violated_principles", "explanation", "x"]), inner, max_size=4)
    ),
    max_leaves=8,
)
PIECES = [
    '{"comparison"', ": ", '"A>B"', ", ", '"violated_principles"', "[2]", "}", "{", '"', "\\ud800", "\\", "```", "NaN",
]  # fmt: skip
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
