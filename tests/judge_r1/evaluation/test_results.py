"""Results of labelled pairs, computed from trajectories."""

import json

import pytest
from evaluation_factories import pair_result, passage, toy_pairs, toy_trajectory
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judge_r1.core.items import ItemResult
from judge_r1.core.verdicts import Evidence, InvalidVerdict
from judge_r1.evaluation.label_results import BadTrajectory

P2, P4, BOTH = toy_pairs(1, [(2,), (4,), (1, 3)])


def test_right_answer_becomes_a_right_result() -> None:
    o = pair_result("row", P2, toy_trajectory(P2, P2.gold.comparison, (2,), shown=[passage(P2)]))
    assert (o.judge, o.item_id, o.cluster_id, o.group, o.labels.kind) == (
        "row", P2.pair_id, P2.case_id, P2.domain, "single",
    )  # fmt: skip
    assert (o.valid, o.labels.valid_strict, o.labels.valid_tolerant, o.score) == (True, True, True, True)
    assert (o.labels.violated, o.labels.predicted, o.votes[0].searches, o.votes[0].ended) == ((2,), (2,), 1, "answer")
    assert o.labels.reward["r"] == 1.0
    assert o.labels.evidence_hit is True


def test_score_follows_the_placement_and_invalid_is_wrong() -> None:
    for pair in toy_pairs(4):
        for comparison in ("A>B", "A<B"):
            o = pair_result("row", pair, toy_trajectory(pair, comparison))
            assert o.score == ((comparison == "A>B") == (pair.reasoning_a == pair.reference))
        invalid = pair_result("row", pair, toy_trajectory(pair, None))
        assert (invalid.score, invalid.labels.predicted, invalid.valid) == (0.0, None, False)
        assert isinstance(invalid.verdict, InvalidVerdict)


@pytest.mark.parametrize(
    ("answer", "strict", "tolerant"),
    [
        ('{"comparison": "A>B", "violated_principles": [2]}', True, True),
        ('```json\n{"comparison": "B > A", "violated_principles": ["P2"]}\n```', False, True),
        ("no idea", False, False),
    ],
)
def test_both_parser_rates_are_independent_of_the_judges_own(answer: str, strict: bool, tolerant: bool) -> None:
    headline_strict = toy_trajectory(P2, "A>B" if strict else None, (2,), answer=answer)
    o = pair_result("row", P2, headline_strict)
    assert (o.valid, o.labels.valid_strict, o.labels.valid_tolerant) == (strict, strict, tolerant)
    headline_tolerant = toy_trajectory(P2, "A<B" if tolerant else None, (2,), answer=answer)
    o = pair_result("row", P2, headline_tolerant)
    assert (o.valid, o.labels.valid_strict, o.labels.valid_tolerant) == (tolerant, strict, tolerant)


def test_unclosed_answer_is_invalid_for_both_parsers() -> None:
    o = pair_result("row", P2, toy_trajectory(P2, None, ended="unclosed_answer", answer='{"comparison": "A>B"}'))
    assert (o.labels.valid_strict, o.labels.valid_tolerant, o.votes[0].ended) == (False, False, "unclosed_answer")


def test_judges_without_text_have_no_parser_rates() -> None:
    silent = toy_trajectory(P2, "A>B").model_copy(update={"turns": ()})
    assert (pair_result("a", P2, silent).labels.valid_strict, pair_result("a", P2, silent).labels.valid_tolerant) == (
        None,
        None,
    )
    nothing = toy_trajectory(P2, None, ended="no_answer").model_copy(update={"turns": ()})
    assert (pair_result("a", P2, nothing).labels.valid_strict, pair_result("a", P2, nothing).labels.valid_tolerant) == (
        False,
        False,
    )


@given(st.integers(0, 60), st.integers(1, 30))
def test_evidence_hit_means_shared_characters(start: int, length: int) -> None:
    wanted = set(range(20))
    o = pair_result("row", P4, toy_trajectory(P4, "A>B", shown=[passage(P4, start, start + length)]))
    assert o.labels.evidence_hit == bool(wanted & set(range(start, start + length)))


def test_flaw_without_context_span_has_no_evidence_hit() -> None:
    assert pair_result("row", BOTH, toy_trajectory(BOTH, "A>B", shown=[passage(BOTH)])).labels.evidence_hit is None
    assert pair_result("row", P2, toy_trajectory(P2, "A>B")).labels.evidence_hit is False


def test_passage_of_another_case_is_rejected() -> None:
    foreign = Evidence(case_id="elsewhere", start=0, end=5, text="other", score=1.0)
    with pytest.raises(BadTrajectory, match="elsewhere"):
        pair_result("row", P2, toy_trajectory(P2, "A>B", shown=[passage(P2), foreign]))


def test_episodes_with_a_wrong_or_missing_reward_are_rejected() -> None:
    good = toy_trajectory(P2, "A>B")
    with pytest.raises(BadTrajectory, match="no reward"):
        pair_result("row", P2, good.model_copy(update={"reward": None}))
    with pytest.raises(BadTrajectory, match="valid=0"):
        pair_result("row", P2, good.model_copy(update={"reward": {"r": 0.0, "valid": 0.0}}))
    with pytest.raises(BadTrajectory, match="infrastructure_timeout"):
        pair_result("row", P2, toy_trajectory(P2, None, ended="infrastructure_timeout"))


def test_results_survive_a_json_round_trip() -> None:
    o = pair_result("row", P2, toy_trajectory(P2, "A>B", (2,)))
    assert ItemResult.model_validate_json(o.model_dump_json(by_alias=True)) == o


def test_a_result_of_another_schema_is_refused_by_name() -> None:
    data = json.loads(pair_result("row", P2, toy_trajectory(P2, "A>B", (2,))).model_dump_json(by_alias=True))
    with pytest.raises(ValidationError, match="schema"):
        ItemResult.model_validate_json(json.dumps(data | {"schema": 1}))
