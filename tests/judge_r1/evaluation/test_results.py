import pytest
from evaluation_factories import passage, toy_pairs, toy_trajectory
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.records import Evidence
from judge_r1.evaluation.results import BadTrajectory, Outcome, outcome

P2, P4, BOTH = toy_pairs(1, [(2,), (4,), (1, 3)])


def test_a_right_answer_becomes_a_right_outcome() -> None:
    o = outcome("row", P2, toy_trajectory(P2, P2.gold.comparison, (2,), shown=[passage(P2)]))
    assert (o.judge, o.pair_id, o.case_id, o.domain, o.kind) == ("row", P2.pair_id, P2.case_id, P2.domain, "single")
    assert (o.valid, o.valid_strict, o.valid_tolerant, o.correct) == (True, True, True, True)
    assert (o.violated, o.predicted, o.searches, o.ended) == ((2,), (2,), 1, "answer")
    assert o.reward["r"] == 1.0
    assert o.evidence_hit is True


def test_correct_follows_the_placement_and_invalid_is_wrong() -> None:
    for pair in toy_pairs(4):
        for comparison in ("A>B", "A<B"):
            o = outcome("row", pair, toy_trajectory(pair, comparison))
            assert o.correct == ((comparison == "A>B") == (pair.reasoning_a == pair.reference))
        invalid = outcome("row", pair, toy_trajectory(pair, None))
        assert (invalid.correct, invalid.comparison, invalid.predicted, invalid.valid) == (False, None, None, False)


@pytest.mark.parametrize(
    ("answer", "strict", "tolerant"),
    [
        ('{"comparison": "A>B", "violated_principles": [2]}', True, True),
        ('```json\n{"comparison": "B > A", "violated_principles": ["P2"]}\n```', False, True),
        ("no idea", False, False),
    ],
)
def test_both_parsers_are_asked_whatever_the_headline_is(answer: str, strict: bool, tolerant: bool) -> None:
    headline_strict = toy_trajectory(P2, "A>B" if strict else None, (2,), answer=answer)
    o = outcome("row", P2, headline_strict)
    assert (o.valid, o.valid_strict, o.valid_tolerant) == (strict, strict, tolerant)
    headline_tolerant = toy_trajectory(P2, "A<B" if tolerant else None, (2,), answer=answer)
    o = outcome("row", P2, headline_tolerant)
    assert (o.valid, o.valid_strict, o.valid_tolerant) == (tolerant, strict, tolerant)


def test_an_answer_that_never_closed_is_invalid_for_both_parsers() -> None:
    o = outcome("row", P2, toy_trajectory(P2, None, ended="unclosed_answer", answer='{"comparison": "A>B"}'))
    assert (o.valid_strict, o.valid_tolerant, o.ended) == (False, False, "unclosed_answer")


def test_judges_without_text_have_no_parser_rates_but_silence_is_invalid() -> None:
    silent = toy_trajectory(P2, "A>B").model_copy(update={"turns": ()})
    assert (outcome("a", P2, silent).valid_strict, outcome("a", P2, silent).valid_tolerant) == (None, None)
    nothing = toy_trajectory(P2, None, ended="no_answer").model_copy(update={"turns": ()})
    assert (outcome("a", P2, nothing).valid_strict, outcome("a", P2, nothing).valid_tolerant) == (False, False)


@given(st.integers(0, 60), st.integers(1, 30))
def test_evidence_hits_exactly_where_characters_are_shared(start: int, length: int) -> None:
    wanted = set(range(20))
    o = outcome("row", P4, toy_trajectory(P4, "A>B", shown=[passage(P4, start, start + length)]))
    assert o.evidence_hit == bool(wanted & set(range(start, start + length)))


def test_no_evidence_is_wanted_where_the_text_alone_shows_the_flaw() -> None:
    assert outcome("row", BOTH, toy_trajectory(BOTH, "A>B", shown=[passage(BOTH)])).evidence_hit is None
    assert outcome("row", P2, toy_trajectory(P2, "A>B")).evidence_hit is False


def test_a_passage_of_another_case_is_refused() -> None:
    foreign = Evidence(case_id="elsewhere", start=0, end=5, text="other", score=1.0)
    with pytest.raises(BadTrajectory, match="elsewhere"):
        outcome("row", P2, toy_trajectory(P2, "A>B", shown=[passage(P2), foreign]))


def test_unscored_misscored_and_failed_episodes_are_refused() -> None:
    good = toy_trajectory(P2, "A>B")
    with pytest.raises(BadTrajectory, match="no reward"):
        outcome("row", P2, good.model_copy(update={"reward": None}))
    with pytest.raises(BadTrajectory, match="valid=0"):
        outcome("row", P2, good.model_copy(update={"reward": {"r": 0.0, "valid": 0.0}}))
    with pytest.raises(BadTrajectory, match="infrastructure_timeout"):
        outcome("row", P2, toy_trajectory(P2, None, ended="infrastructure_timeout"))


def test_outcomes_are_records() -> None:
    o = outcome("row", P2, toy_trajectory(P2, "A>B", (2,)))
    assert Outcome.model_validate_json(o.model_dump_json()) == o
