"""Confidences by token, orders and samples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.benchmarks.aggregation import majority_vote
from judge_r1.core.items import Item, ItemResult, Vote, item_result
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict
from judge_r1.evaluation.calibrate import METHODS, confidence, confidence_rows

ITEM = Item(item_id="i", cluster_id="c", instruction="q", candidates=("x", "y"), gold="A")


def game(order: tuple[int, ...], winner: str | None, sure: float | None = None, sample: int = 0) -> Vote:
    verdict = PairwiseVerdict(winner=winner) if winner else InvalidVerdict(reason="no_answer")
    return Vote(order=order, sample=sample, member=0, verdict=verdict, ended="answer", searches=0, confidence=sure)


def settled(*games: Vote) -> ItemResult:
    return item_result("row", ITEM, games, majority_vote(ITEM, games))


AB, BA = (0, 1), (1, 0)


def test_single_vote_has_only_a_token_confidence() -> None:
    outcome = settled(game(AB, "B", 0.7))
    assert [confidence(outcome, method) for method in METHODS] == [0.7, None, None]


def test_orders_confidence_is_the_agreement_of_both_orders() -> None:
    agreed = settled(game(AB, "A", 0.9), game(BA, "B", 0.7))
    assert [confidence(agreed, method) for method in METHODS] == [pytest.approx(0.8), 1.0, None]
    split = settled(game(AB, "A", 0.9), game(BA, "A", 0.7))
    assert split.verdict == PairwiseVerdict(winner="tie")
    assert [confidence(split, method) for method in METHODS] == [0.5, 0.5, None]
    half = settled(game(AB, "A", 0.9), game(BA, None))
    assert [confidence(half, method) for method in METHODS] == [0.9, 0.75, None]


def test_samples_count_votes_and_orders_count_majorities() -> None:
    games = (
        [game(AB, "A", 0.8, n) for n in range(2)] + [game(AB, "B", 0.6, 2)] + [game(BA, "B", 1.0, n) for n in range(3)]
    )
    outcome = settled(*games)
    assert confidence(outcome, "samples") == pytest.approx(5 / 6)
    assert confidence(outcome, "orders") == 1.0
    assert confidence(outcome, "token") == pytest.approx((0.8 + 0.8 + 0.4 + 3) / 6)


def test_invalid_verdicts_and_other_items_have_no_confidence() -> None:
    invalid = settled(game(AB, None), game(BA, None))
    three = ITEM.model_copy(update={"candidates": ("x", "y", "z")})
    best = item_result("row", three, [game((0, 2), "A", 0.9)], majority_vote(three, [game((0, 2), "A", 0.9)]))
    for method in METHODS:
        assert confidence(invalid, method) is None
        assert confidence(best, method) is None


def test_every_item_becomes_a_confidence_row() -> None:
    outcomes = [settled(game(AB, "A", 0.9)), settled(game(AB, "B", 0.6)), settled(game(AB, None))]
    assert [(row.confidence, row.correct, row.cluster) for row in confidence_rows(outcomes, "token")] == [
        (0.9, True, "c"),
        (0.6, False, "c"),
        (None, False, "c"),
    ]


GAMES = st.lists(
    st.builds(
        game,
        st.sampled_from([AB, BA]),
        st.sampled_from(["A", "B", "tie", None]),
        st.none() | st.floats(0, 1),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=8,
)


@given(GAMES)
def test_confidences_equal_plain_counting(games: list[Vote]) -> None:
    """Against counting by hand, and: the same games told of the other candidate are as sure."""
    outcome = settled(*games)
    if not outcome.valid:
        return
    samples = confidence(outcome, "samples")
    winner = outcome.verdict.winner if isinstance(outcome.verdict, PairwiseVerdict) else None
    if samples is not None and winner != "tie":
        place = "AB".index(str(winner))
        pros = sum(g.winner == place for g in games)
        undecided = sum(g.winner is None for g in games)
        assert samples == pytest.approx((pros + undecided / 2) / len(games))
    turned = settled(*(g.model_copy(update={"order": g.order[::-1]}) for g in games))
    for method in METHODS:
        assert confidence(turned, method) == pytest.approx(confidence(outcome, method))
