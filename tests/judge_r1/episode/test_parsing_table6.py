"""The two-line form of the paper's Table 6: strict for training, tolerant for evaluation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_parsing import reason_of

from judge_r1.core.verdicts import Judgment
from judge_r1.episode.confidence import sign_position
from judge_r1.episode.parsing import parse_table6, parse_table6_tolerant
from judge_r1.training.data.targets import answer

COMPARISONS = st.sampled_from(["A>B", "A<B"])
NUMBERS = st.lists(st.integers(1, 6), unique=True)
SPACE = st.text(" \n\t", max_size=3)
PARSERS = (parse_table6, parse_table6_tolerant)


def judgment(comparison: str, numbers: list[int]) -> Judgment:
    return Judgment.model_validate({"comparison": comparison, "violated_principles": sorted(numbers)})


@given(COMPARISONS, NUMBERS, SPACE)
def test_answers_round_trip(comparison: str, numbers: list[int], space: str) -> None:
    expected = judgment(comparison, numbers)
    for parse in PARSERS:
        assert parse(space + answer(expected, "table6") + space) == expected
    unsorted = f"{comparison}\nviolated_principles: [{','.join(map(str, numbers))}]"
    assert [parse(unsorted) for parse in PARSERS] == [expected, expected]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("", "not_two_lines"),
        ("A<B", "not_two_lines"),
        ("A<B violated_principles: [2]", "not_two_lines"),
        ("so\nA<B\nviolated_principles: [2]", "not_two_lines"),
        ("A<B\nviolated_principles: [2]\nor not", "not_two_lines"),
        ("A<B\nviolated_principles: 2", "not_two_lines"),
        ("B>A\nviolated_principles: [2]", "bad_comparison"),
        ("A=B\nviolated_principles: [2]", "bad_comparison"),
        ("A<B\nviolated_principles: [7]", "bad_principles"),
        ("A<B\nviolated_principles: [2, 2]", "bad_principles"),
        ("A<B\nviolated_principles: [2,]", "bad_principles"),
        ("A<B\nviolated_principles: [P2]", "bad_principles"),
        ("A<B\nviolated_principles: [²]", "bad_principles"),
    ],
)
def test_strict_names_each_rejection(written: str, reason: str) -> None:
    assert reason_of(parse_table6(written)) == reason


@pytest.mark.parametrize(
    ("written", "comparison", "numbers"),
    [
        ("I say B > A.\nviolated_principles: [P2, 3]", "A<B", [2, 3]),
        ("**a<b**\n**Violated principles:** [ 4 ]", "A<B", [4]),
        ('A>B\n"violated_principles": []<|im_end|>', "A>B", []),
        ("A>B\nviolated_principles: [1]\nNo, violated_principles: [6, 6]", "A>B", [6]),
        ("**Verdict:** A<B\n**Violated principles:** 2. Factual Consistency, 4", "A<B", [2, 4]),
        ('1. A<B\n2. "violated_principles": [3]', "A<B", [3]),
        ("Reasoning A > Reasoning B\nviolated_principles: none", "A>B", []),
        ("violated_principles: [2]\nA<B", "A<B", [2]),
        ("A>B, principle 2", "A>B", []),
        ("A>B\nviolated_principles: [7]", "A>B", []),
        ("A>B\nviolated_principles: [two]", "A>B", []),
    ],
)
def test_tolerant_accepts_other_spellings(written: str, comparison: str, numbers: list[int]) -> None:
    assert parse_table6_tolerant(written) == judgment(comparison, numbers)


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("violated_principles: [2]", "bad_comparison"),
        ("A>A\nviolated_principles: [2]", "bad_comparison"),
        ("A>B>A\nviolated_principles: [2]", "bad_comparison"),
        ("A > B > A\nviolated_principles: [2]", "bad_comparison"),
        ("It is wrong to say that A>B.", "bad_comparison"),
        ("I cannot say that A>B.", "bad_comparison"),
        ("A>B is wrong.\nviolated_principles: [1]", "bad_comparison"),
        ("The claim 'A>B' does not hold.\nviolated_principles: [1]", "bad_comparison"),
        ("Is A>B? Yes.", "bad_comparison"),
        ("Assuming that the facts hold, A>B.", "bad_comparison"),
        ("A>B only when the date is right", "bad_comparison"),
        ("In terms of style, A>B. On length A>B.", "bad_comparison"),
        ("A>B if A is better and A<B if B is better.", "bad_comparison"),
        ("If the dose were right, A>B.", "bad_comparison"),
        ("A > B in length, B > A in style.", "bad_comparison"),
        ("A>B\nA<B\nviolated_principles: [2]", "contradiction"),
        ("First A>B came to mind. Then B>A.", "contradiction"),
        ("A>B\nviolated_principles: [2]\nNo: A<B", "contradiction"),
        ("A>B\nviolated_principles: [1]\nA<B\nviolated_principles: [2]", "contradiction"),
    ],
)
def test_tolerant_names_each_rejection(written: str, reason: str) -> None:
    assert reason_of(parse_table6_tolerant(written)) == reason


@pytest.mark.parametrize(
    "written",
    [
        "Although A > B in length, the verdict is B>A\nviolated_principles: [2]",
        "The verdict is B>A, although A > B in length.\nviolated_principles: [2]",
        "A > B in clarity. A < B in facts. So A<B.\nviolated_principles: [2]",
        "If the dose were right, A>B. It is not, so B>A.\nviolated_principles: [2]",
        "A>B would be right if the year were 1999; it is not.\nA<B\nviolated_principles: [2]",
        "The answer is either 'A>B' or 'A<B'.\nA<B\nviolated_principles: [2]",
        "A>B\nviolated_principles: [1]\nWait, the dose is wrong.\nA<B\nviolated_principles: [2]",
        "A<B\nviolated_principles: [2]\n\n(Format: A>B or A<B, then violated_principles: [numbers 1-6])",
        "A<B\nviolated_principles: [2]\nA>B if A is better and A<B if B is better.",
        "A<B\nviolated_principles: [2]\nFor example:\nA>B\nviolated_principles: [3, 5]",
        "A<B\nviolated_principles: [2]\n\nSo A>B would be wrong.",
        "A<B. If A had the right dose, it would win.\nviolated_principles: [2]",
        "In terms of style, A>B. In terms of facts, B>A. On balance B>A.\nviolated_principles: [2]",
        "A>B? No.\nA<B\nviolated_principles: [2]",
    ],
)
def test_the_last_complete_unconditional_verdict_counts(written: str) -> None:
    assert parse_table6_tolerant(written) == judgment("A<B", [2])
    found = sign_position(written)
    assert found is not None
    assert written[found - 1 : found + 2] in ("B>A", "A<B")
