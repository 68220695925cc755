"""How often the 95 % intervals contain the true accuracy, by simulation; docs/experiments/intervals.csv has the table.

pytest -s -m slow tests/judge_r1/statistics/test_interval_coverage.py
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from judge_r1.statistics.intervals import FEW_CLUSTERS, clustered_mean_ci, gap_ci

SHORT_TRIALS, LONG_TRIALS = 250, 4_000
CLUSTERS = (3, 5, 10, 20, 29, 30, 60)
Ends = tuple[float, float]

SKILLS: dict[str, tuple[Callable[[np.random.Generator, int], NDArray[np.float64]], float]] = {
    "cases differ, accuracy .75": (lambda generator, count: generator.beta(3, 1, count), 0.75),
    "cases differ, accuracy .60": (lambda generator, count: generator.beta(6, 4, count), 0.60),
    "cases differ, accuracy .90": (lambda generator, count: generator.beta(9, 1, count), 0.90),
    "cases alike, accuracy .75": (lambda _, count: np.full(count, 0.75), 0.75),
}
"""Draws of the accuracy of each case, and the mean of their distribution."""


def percentile_bootstrap(values: list[float], clusters: list[str], seed: int) -> Ends:
    """The interval of earlier versions, for comparison."""
    numbers = np.array([int(cluster) for cluster in clusters])
    sums, sizes = np.bincount(numbers, values), np.bincount(numbers).astype(float)
    drawn = np.random.default_rng(seed).integers(0, len(sums), size=(2_000, len(sums)))
    low, high = np.quantile(sums[drawn].sum(1) / sizes[drawn].sum(1), [0.025, 0.975])
    return float(low), float(high)


def coverage(count: int, skill: str, trials: int, interval: Callable[[list[float], list[str], int], Ends]) -> float:
    """The share of intervals with the true accuracy, over data sets of `count` cases with 1 to 11 pairs each."""
    draw, true = SKILLS[skill]
    generator = np.random.default_rng(0)
    hits = 0
    for trial in range(trials):
        sizes = generator.integers(1, 12, count)
        right = generator.binomial(sizes, draw(generator, count))
        values = [1.0 if at < k else 0.0 for k, size in zip(right, sizes, strict=True) for at in range(size)]
        low, high = interval(values, [str(number) for number, size in enumerate(sizes) for _ in range(size)], trial)
        hits += low <= true <= high
    return hits / trials


@pytest.mark.parametrize("skill", list(SKILLS)[:2])
@pytest.mark.parametrize("count", [3, 5, 10, 20])
def test_few_clusters_are_covered(count: int, skill: str) -> None:
    assert 0.91 <= coverage(count, skill, SHORT_TRIALS, clustered_mean_ci) <= 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_coverage_table() -> None:
    for skill in SKILLS:
        print(f"\n{skill}: cases, bootstrap, now")
        for count in CLUSTERS:
            before, now = (
                coverage(count, skill, LONG_TRIALS, method) for method in (percentile_bootstrap, clustered_mean_ci)
            )
            print(f"{count:3d}  {before:.1%}  {now:.1%}")
            assert now >= before - 0.005
            if count < FEW_CLUSTERS:
                assert now >= 0.93


def test_gap_intervals_of_few_clusters_cover_the_difference() -> None:
    """Data sets of 8 clusters with two pairs of each class and an offset that the cluster shares; the gap is 0.2."""
    generator, inside = np.random.default_rng(5), 0
    for _ in range(SHORT_TRIALS):
        groups: tuple[list[tuple[str, float]], list[tuple[str, float]]] = ([], [])
        for cluster in range(8):
            offset = generator.normal(0, 0.15)
            for _ in range(2):
                groups[0].append((str(cluster), float(generator.random() < np.clip(0.7 + offset, 0, 1))))
                groups[1].append((str(cluster), float(generator.random() < np.clip(0.5 - offset, 0, 1))))
        low, high = gap_ci(*groups)
        inside += low <= 0.2 <= high
    assert inside >= 0.92 * SHORT_TRIALS
