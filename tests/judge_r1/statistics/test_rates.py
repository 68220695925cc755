"""One-sided limits, the labels that a decision needs, and Tango's interval."""

import numpy as np
import pytest
from scipy.stats import binomtest

from judge_r1.statistics.rates import exact_limits, labels_needed, rate_limits, smallest_drop, tango_ci


@pytest.mark.parametrize(
    ("right", "of", "lower"), [(70, 80, 0.7971999), (15, 20, 0.5444176), (12, 12, 0.7790778), (0, 5, 0.0)]
)
def test_exact_lower_limit(right: int, of: int, lower: float) -> None:
    assert exact_limits(right, of).lower == pytest.approx(lower, abs=1e-6)
    assert exact_limits(of - right, of).upper == pytest.approx(1 - lower, abs=1e-6)


@pytest.mark.parametrize(
    ("rate", "least", "needed"),
    [
        (1, 0.8, 14),
        (0.95, 0.8, 30),
        (0.9, 0.8, 63),
        (0.875, 0.8, 106),
        (1, 0.9, 29),
        (0.95, 0.9, 142),
        (0.8, 0.8, None),
    ],
)
def test_labels_needed_from_there_on(rate: float, least: float, needed: int | None) -> None:
    assert labels_needed(rate, least) == needed


def test_limits_over_clusters_are_wider_and_exact_over_items() -> None:
    right = [True] * 17 + [False] * 3
    items = rate_limits(right, [str(number) for number in range(20)])
    assert items == exact_limits(17, 20)
    blocks = rate_limits(right, [str(number // 4) for number in range(20)])
    assert blocks.lower < items.lower < 0.85 < items.upper < blocks.upper
    assert rate_limits([True] * 6, list("aabbcc")) == exact_limits(3, 3)
    assert rate_limits([False] * 6, list("aabbcc")) == exact_limits(0, 3)
    assert rate_limits([True, False], ["a", "a"]) == (0, 1)
    half = rate_limits([True, False] * 12, [str(number // 2) for number in range(24)])
    share = exact_limits(0, 12).upper  # of 12 equal clusters at most so many are others
    assert half == pytest.approx((0.5 - 0.5 * share, 0.5 + 0.5 * share))


def test_tango_of_a_paired_difference() -> None:
    assert tango_ci(worse=9, better=2, pairs=80) == pytest.approx((-0.1801353, -0.0074051), abs=1e-6)
    low, high = tango_ci(worse=0, better=0, pairs=50)
    assert low == pytest.approx(-high)
    assert 0.05 < high < 0.1
    with pytest.raises(ValueError, match="no paired comparison"):
        tango_ci(3, 3, 5)


@pytest.mark.parametrize(("pairs", "drop"), [(2, None), (100, 0.1), (200, 0.06), (300, 0.05)])
def test_the_smallest_drop_that_shows(pairs: int, drop: float | None) -> None:
    found = smallest_drop(pairs, 0.05)
    assert found == drop
    if drop is not None:  # the same by drawing: 2 % turn right, and drop more wrong
        worse, better, _ = np.random.default_rng(0).multinomial(pairs, [0.02 + drop, 0.02, 0.96 - drop], 2000).T
        p = [
            binomtest(int(w), int(w + b), alternative="greater").pvalue if w + b else 1
            for w, b in zip(worse, better, strict=True)
        ]
        assert 0.78 < np.mean(np.array(p) < 0.05) < 0.93
