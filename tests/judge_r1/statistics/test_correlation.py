"""Rank correlations against scipy, pair accuracy against plain counting."""

import math
import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, rankdata, spearmanr

from judge_r1.statistics.correlation import correlation_table, kendall, pair_accuracy, pooled, ranks, spearman

SCORES = st.one_of(st.integers(0, 4).map(float), st.floats(-5, 5), st.just(-math.inf))
BOTH = st.lists(st.tuples(SCORES, SCORES), max_size=25)


@given(st.lists(SCORES, max_size=30))
def test_ranks_match_scipy_counted_from_the_highest(scores: list[float]) -> None:
    assert ranks(scores) == rankdata([-s for s in scores]).tolist()


@pytest.mark.parametrize("ours", [spearman, kendall])
@given(rows=BOTH)
def test_correlations_match_scipy_and_are_none_for_a_constant_side(
    ours: object, rows: list[tuple[float, float]]
) -> None:
    one, other = [a for a, _ in rows], [b for _, b in rows]
    found = ours(one, other)  # type: ignore[operator]
    if len({*one}) < 2 or len({*other}) < 2:
        assert found is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        scipys = spearmanr if ours is spearman else kendalltau
        expected = scipys(rankdata(one), rankdata(other))  # SciPy does not accept infinities
    assert found == pytest.approx(expected.statistic, abs=1e-12)
    assert -1 <= found <= 1


@given(st.lists(st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(0, 3))), max_size=12))
def test_pair_accuracy_equals_plain_counting(rows: list[tuple[int, int | None]]) -> None:
    gold, predicted = [g for g, _ in rows], [p for _, p in rows]
    found = pair_accuracy(gold, predicted)
    ordered = [(p, q) for g, p in rows for h, q in rows if g > h]  # each pair once, the better one first
    given_ = [(p, q) for p, q in ordered if p is not None and q is not None]
    assert found.pairs == len(ordered)
    assert found.missing == len(ordered) - len(given_)
    assert found.right == sum(p > q for p, q in given_)
    assert found.tied == sum(p == q for p, q in given_)
    if ordered:
        assert found.half == pytest.approx((found.strict or 0) + (found.tie_rate or 0) / 2)
    else:
        assert (found.strict, found.half, found.tie_rate) == (None, None, None)


def test_ties_count_as_wrong_or_as_half_right() -> None:
    found = pair_accuracy([1, 2, 3, 3], [5, 5, 6, 1])  # five pairs: 1-2 tied, 1-3 and 2-3 right, 1-4 and 2-4 wrong
    assert (found.pairs, found.right, found.tied, found.missing) == (5, 2, 1, 0)
    assert (found.strict, found.half, found.tie_rate) == (0.4, 0.5, 0.2)


def test_queries_pool_into_a_micro_average() -> None:
    both = [pair_accuracy([1, 2], [1, 2]), pair_accuracy([1, 2, 3], [3, 2, None])]
    assert pooled(both).strict == 0.25
    assert pooled(both).missing == 2
    assert pooled([]).strict is None


def test_nan_and_unequal_lengths_are_errors() -> None:
    for call in (spearman, kendall, pair_accuracy):
        with pytest.raises(ValueError, match="NaN is no score"):
            call([1.0, math.nan], [1.0, 2.0])
        with pytest.raises(ValueError, match="same items"):
            call([1.0], [1.0, 2.0])


def test_the_table_of_metrics_is_paired_and_clustered() -> None:
    gold = [float(n) for n in range(90)]
    metrics = {"first": [-g for g in gold], "second": gold, "constant": [1.0] * 90}
    table = correlation_table(metrics, gold, [str(n // 3) for n in range(90)], resamples=50)
    assert (table["first"]["rho"], table["second"]["rho"], table["constant"]["rho"]) == (-1.0, 1.0, None)
    assert (table["second"]["difference low"], table["second"]["difference high"]) == (2.0, 2.0)
    assert table["first"]["difference low"] is None
    assert table["constant"]["low"] is None
    assert {row["n"] for row in table.values()} == {90}


@pytest.mark.parametrize("values", [[1, 2, 3], [1, 2, 2, 4], [3, 1, 2, 5, 4], [1, 1, 2, 2, 3, 3, 4]])
def test_the_p_of_few_texts_counts_all_orders(values: list[float]) -> None:
    gold = [float(n) for n in range(len(values))]
    rho = spearman(values, gold)
    assert rho is not None
    every = [spearman(values, order) or 0.0 for order in permutations(gold)]
    hits = sum(abs(one) >= abs(rho) - 1e-9 for one in every)
    found = correlation_table({"judge": values}, gold, [str(n) for n in gold], resamples=5)["judge"]
    assert found["p"] == pytest.approx(hits / len(every))
    if values == [1, 2, 3]:
        assert found["p"] == 1 / 3, "the t distribution gives 0"


@pytest.mark.parametrize("n", [12, 30, 31])
def test_the_p_of_more_texts_is_drawn_and_near_the_t_distribution(n: int) -> None:
    generator = np.random.default_rng(n)
    one = generator.normal(size=n)
    other = 0.5 * one + generator.normal(size=n)
    found = correlation_table({"judge": one.tolist()}, other.tolist(), list(map(str, range(n))), resamples=5)["judge"]
    assert found["p"] == pytest.approx(spearmanr(one, other).pvalue, abs=0.01)
    perfect = correlation_table({"judge": one.tolist()}, one.tolist(), list(map(str, range(n))), resamples=5)["judge"]
    assert perfect["p"] == (0.0 if n == 31 else 1 / 20_000)


def test_few_clusters_that_do_not_vary_give_no_interval() -> None:
    for clusters in (["a", "b", "c"], ["a"] * 3):
        row = correlation_table({"judge": [1.0, 2, 3]}, [1.0, 2, 3], clusters, resamples=50)["judge"]
        assert (row["rho"], row["low"], row["high"]) == (1.0, None, None)
