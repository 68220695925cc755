"""`aggregate_votes` on every kind of verdict."""

from typing import Any

import pytest

from judge_r1.benchmarks.aggregation import MISSING_SCORE, aggregate_votes
from judge_r1.core.items import AggregatedVerdict, Item, Vote
from judge_r1.core.verdicts import (
    ChecklistVerdict,
    InvalidVerdict,
    PairwiseVerdict,
    RankingVerdict,
    ScoresVerdict,
    Verdict,
)


def item(count: int, gold: Any) -> Item:
    return Item(item_id="i", cluster_id="c", instruction="", candidates=tuple("abcdef"[:count]), gold=gold)


def aggregated(item: Item, *votes: tuple[tuple[int, ...], Verdict]) -> AggregatedVerdict:
    return aggregate_votes(
        item,
        [
            Vote(order=order, sample=sample, member=0, verdict=verdict, ended="answer", searches=0)
            for sample, (order, verdict) in enumerate(votes)
        ],
    )


def scores(*values: float) -> ScoresVerdict:
    return ScoresVerdict(scores=values)


def test_scores_of_a_pair_imply_a_preference() -> None:
    votes = [((0, 1), scores(8, 3)), ((1, 0), scores(2, 9)), ((0, 1), InvalidVerdict(reason="no_json"))]
    found = aggregated(item(2, "A"), *votes)
    assert (found.verdict, found.score) == (PairwiseVerdict(winner="A"), 1.0)
    assert aggregated(item(2, "B"), *votes).score == 0.0


def test_candidates_scored_separately() -> None:
    found = aggregated(item(2, [1, 2]), ((0,), scores(3)), ((1,), scores(4)), ((1,), scores(6)))
    assert (found.verdict, found.score) == (scores(3, 5), 1.0)
    missing = aggregated(item(2, [1, 2]), ((0,), scores(3)), ((1,), InvalidVerdict(reason="no_rating")))
    assert (missing.verdict, missing.score) == (InvalidVerdict(reason=MISSING_SCORE), 0.0)
    assert aggregated(item(1, 7), ((0,), scores(7)), ((0,), scores(7.5))).score == 1.0
    assert aggregated(item(1, [6]), ((0,), scores(7))).score == 0.0


def test_rankings_are_averaged() -> None:
    found = aggregated(
        item(3, [3, 1, 2]), ((0, 1, 2), RankingVerdict(order=(0, 2, 1))), ((1, 0, 2), RankingVerdict(order=(1, 0, 2)))
    )
    assert found.verdict == RankingVerdict(order=(0, 1, 2))
    assert found.score == pytest.approx(2 / 3)


def test_checklists_are_averaged() -> None:
    gold = {"clear": 1, "complete": 0, "cited": 1}
    found = aggregated(
        item(1, gold),
        ((0,), ChecklistVerdict(scores={"clear": 1, "complete": 1, "cited": 0})),
        ((0,), ChecklistVerdict(scores={"clear": 1, "complete": 1, "cited": 1})),
    )
    assert found.verdict == ChecklistVerdict(scores={"clear": 1.0, "complete": 1.0, "cited": 0.5})
    assert found.score == pytest.approx(2 / 3)


def test_comparisons_become_shares_won() -> None:
    votes = [((0, 1), PairwiseVerdict(winner="A")), ((1, 2), PairwiseVerdict(winner="tie"))]
    votes += [((2, 0), PairwiseVerdict(winner="B"))]
    found = aggregated(item(3, 0), *votes)
    assert (found.verdict, found.score) == (scores(1.0, 0.25, 0.25), 1.0)


def test_item_without_valid_vote_is_invalid() -> None:
    found = aggregated(item(3, 0), ((0, 1, 2), InvalidVerdict(reason="no_json")))
    assert (found.verdict, found.score) == (InvalidVerdict(reason="no_json"), 0.0)
