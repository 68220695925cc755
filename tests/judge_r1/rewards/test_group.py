"""Group rewards: schedules, scores and failures."""

import asyncio
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from judge_r1.rewards.group import ALONE, Comparison, GroupScores, judge_group, scores_of
from judge_r1.rewards.schedule import SCHEDULES, Schedule, comparisons
from judge_r1.statistics.rating.bradley_terry import head_to_head

Win = Callable[[int, int], float | None]


def run(count: int, win: Win, **options: object) -> GroupScores:
    async def compare(first: int, second: int) -> Comparison:
        await asyncio.sleep(0)
        won = win(first, second)
        return Comparison(first, second, won, "refused" if won is None else None)

    return asyncio.run(judge_group(count, compare, **options))  # type: ignore[arg-type]


def higher(first: int, second: int) -> float:
    return float(first > second)


@pytest.mark.parametrize(
    ("schedule", "counts"),
    [
        ("all_pairs", {1: 0, 2: 1, 4: 6, 16: 120, 64: 2016}),
        ("circular", {1: 0, 2: 1, 3: 3, 4: 4, 16: 16, 64: 64}),
        ("anchor", {1: 0, 2: 1, 4: 3, 16: 15, 64: 63}),
        ("swiss", {1: 0, 2: 1, 4: 4, 5: 6, 16: 32, 64: 192}),
    ],
)
def test_the_number_of_comparisons(schedule: Schedule, counts: dict[int, int]) -> None:
    for count, pairs in counts.items():
        one, both = (run(count, higher, schedule=schedule, orders=orders).comparisons for orders in (1, 2))
        assert (len(one), len(both), comparisons(schedule, count, False)) == (pairs, 2 * pairs, pairs)
        shown = Counter((found.first, found.second) for found in both)
        assert set(shown.values()) <= {1}  # no pair meets twice
        assert all((second, first) in shown and first != second for first, second in shown)


def test_one_order_shows_each_member_first_as_often_as_second() -> None:
    found = run(16, higher, schedule="circular", orders=1)
    assert Counter(one.first for one in found.comparisons) == Counter(one.second for one in found.comparisons)
    firsts = Counter(one.first for one in run(16, higher, schedule="all_pairs", orders=1).comparisons)
    assert {firsts[member] for member in range(16)} <= {7, 8}
    always_first = run(16, lambda first, second: 1.0, schedule="circular", orders=1)
    assert always_first.scores == pytest.approx([0.5] * 16, abs=1e-6)


def test_a_reference_is_the_only_opponent() -> None:
    found = run(3, lambda first, second: {0: 0.9, 1: 0.5, 2: 0.1, 3: 0.5}[first], schedule="anchor", reference=True)
    assert [{one.first, one.second} & {3} for one in found.comparisons] == [{3}] * 6
    assert found.scores[0] is not None
    assert found.scores[2] is not None
    assert found.scores[0] > 0.5 > found.scores[2]
    with pytest.raises(ValueError, match="use anchor with a reference"):
        run(3, higher, schedule="swiss", reference=True)


def test_ties_give_equal_scores() -> None:
    for schedule in SCHEDULES:
        assert run(8, lambda first, second: 0.5, schedule=schedule).scores == pytest.approx([0.5] * 8)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_failed_comparison_is_never_a_number(schedule: Schedule) -> None:
    """Member 2 is never judged. It has no score, and the scores of the others do not depend on it."""
    found = run(6, lambda first, second: None if 2 in (first, second) else higher(first, second), schedule=schedule)
    assert (found.scores[2], found.failures[2]) == (None, "refused")
    assert all(score is not None for member, score in enumerate(found.scores) if member != 2)
    assert found.failed == sum(2 in (one.first, one.second) for one in found.comparisons) > 0
    nothing = run(6, lambda first, second: None, schedule=schedule)
    assert nothing.scores == (None,) * 6
    assert nothing.failed == len(nothing.comparisons)


def test_a_group_of_one_has_no_score() -> None:
    assert run(1, higher) == GroupScores((None,), (ALONE,), ())
    assert run(0, higher) == GroupScores((), (), ())


@given(st.integers(2, 7), st.data())
def test_scores_equal_the_formula(count: int, data: st.DataObject) -> None:
    """Against a direct maximization of the penalized Bradley–Terry likelihood."""
    player = st.integers(0, count - 1)
    pairs = data.draw(st.lists(st.tuples(player, player).filter(lambda pair: pair[0] != pair[1]), min_size=1))
    results = [(i, j, data.draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))) for i, j in pairs]
    players = sorted({player for i, j, _ in results for player in (i, j)})

    def loss(x: np.ndarray) -> float:
        rating = dict(zip(players, x, strict=True))
        margins = np.array([rating[i] - rating[j] for i, j, _ in results])
        points = np.array([p for _, _, p in results])
        return float(-(points @ margins) + np.logaddexp(0, margins).sum() + (np.logaddexp(0, x) - x / 2).sum())

    best = minimize(loss, np.zeros(len(players)), tol=1e-12).x
    found = head_to_head(results, prior=1.0)
    assert [found[player] for player in players] == pytest.approx(best, abs=1e-4)
    scores = scores_of(count, [Comparison(*result) for result in results]).scores
    for player, x in zip(players, best, strict=True):
        wins = [1 / (1 + math.exp(y - x)) for other, y in zip(players, best, strict=True) if other != player]
        assert scores[player] == pytest.approx(np.mean(wins), abs=1e-4)
    assert all(scores[player] is None for player in range(count) if player not in players)


def test_an_error_of_every_comparison_is_raised_and_cancels_the_others() -> None:
    ended = []

    async def compare(first: int, second: int) -> Comparison:
        if first == 0:
            raise RuntimeError("the key is wrong")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(first)
        raise AssertionError

    with pytest.raises(RuntimeError, match="the key is wrong"):
        asyncio.run(judge_group(4, compare))
    assert ended
