"""Mentions of principles in a reasoning."""

import pytest

from judge_r1.core.principles import PRINCIPLES
from judge_r1.evaluation.analysis.reasoning_traits import named_principles


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("B breaks P2 and P 4.", {2, 4}),
        ("principle 3 is broken", {3}),
        ("Principles 1, 2 and 6 hold; principle no. 5 does not", {1, 2, 5, 6}),
        ("principle #4 / principle number 1", {1, 4}),
        ("It lacks factual consistency, and GROUNDEDNESS too", {2, 4}),
        ("Bias & Fairness", {3}),
        ("bias and fairness", {3}),
        ("the step 2 of A is wrong", set()),
        ("P7, P12 and principle 9", set()),
        ("principle 12", set()),
        ("the principles are 6 in number: principle", set()),
        ("AP2 helps", set()),
        ("it differs 2", set()),
        ("", set()),
    ],
)
def test_principles_mentioned_in_a_text(text: str, named: set[int]) -> None:
    assert named_principles([text], "standard") == named


def test_principles_are_found_by_full_name() -> None:
    for principle in PRINCIPLES:
        assert named_principles([f"I see a lack of {principle.name.lower()} here"], "direct") == {principle.number}


def test_trailing_numbers_count_only_for_prompts_without_names() -> None:
    blocks = ["A 1 says paul paid 34 differs 2", "B 4 says ok 4 here", "next forge 6.", "41", "A 3"]
    assert named_principles(blocks, "compact") == {2, 6}
    assert named_principles(blocks, "table6") == set()
