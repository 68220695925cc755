"""Answers about two conversations: the parser, the answer of a gold, and the reward."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_parsing import reason_of

from judge_r1.core.conversations import FAILURE_KEYS, FAILURES
from judge_r1.core.verdicts import Judgment, LocatedVerdict, PairwiseVerdict, Parts, parts_correct
from judge_r1.episode.located_answer import located_answer, parse_located, problem_list

VERDICTS = st.builds(
    LocatedVerdict,
    winner=st.sampled_from(["A", "B"]),
    round=st.integers(1, 9),
    failure=st.sampled_from(FAILURE_KEYS),
)


@given(verdict=VERDICTS)
def test_an_answer_is_read_back(verdict: LocatedVerdict) -> None:
    assert parse_located(f" {located_answer(verdict)}\n") == Judgment(verdict=verdict)


def test_the_answer_of_an_unknown_type() -> None:
    with pytest.raises(ValueError, match="'rude'"):
        located_answer(LocatedVerdict(winner="A", round=1, failure="rude"))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"worst_round": 0}, "bad_round"),
        ({"worst_round": True}, "bad_round"),
        ({"worst_round": "2"}, "bad_round"),
        ({"problem_type": "H"}, "bad_problem_type"),
        ({"problem_type": 3}, "bad_problem_type"),
        ({"verdict": "tie"}, "bad_verdict"),
        ({"verdict": None}, "bad_verdict"),
        ({"analysis": 7}, "bad_explanation"),
        ({"score": 1}, "unknown_key"),
    ],
)
def test_rejected_answers(changes: dict[str, Any], reason: str) -> None:
    answer = {"worst_round": 2, "problem_type": "C", "verdict": "A", **changes}
    assert reason_of(parse_located(json.dumps(answer))) == reason


@pytest.mark.parametrize(("text", "reason"), [("{}", "missing_key"), ("[]", "not_an_object"), ("A", "no_json")])
def test_what_is_no_answer(text: str, reason: str) -> None:
    assert reason_of(parse_located(text)) == reason


def test_an_analysis_is_kept() -> None:
    text = '{"analysis": "round 2 differs", "worst_round": 2, "problem_type": "A", "verdict": "B"}'
    found = parse_located(text)
    assert isinstance(found, Judgment)
    assert found.explanation == "round 2 differs"


def test_every_type_is_listed() -> None:
    assert [line[0] for line in problem_list().splitlines()] == [failure.letter for failure in FAILURES]


@given(verdict=VERDICTS, gold=VERDICTS)
def test_joint_correctness_is_equality(verdict: LocatedVerdict, gold: LocatedVerdict) -> None:
    assert all(parts_correct(verdict, gold)) == (verdict == gold)


def test_a_comparison_alone_has_no_round() -> None:
    gold = LocatedVerdict(winner="A", round=1, failure="evasion")
    assert parts_correct(PairwiseVerdict(winner="A"), gold) == Parts(True, False, False)
