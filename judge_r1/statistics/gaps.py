"""The difference between two groups of measurements that share clusters (pairs of one case in both groups)."""

from collections.abc import Sequence

import numpy as np

from judge_r1.statistics.intervals import RESAMPLES, clustered_mean_ci

Measured = tuple[str, float]
"""A cluster and a value in [0, 1]."""


def gap_ci(one: Sequence[Measured], other: Sequence[Measured], seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of mean(one) - mean(other) by a bootstrap over the clusters of both, whole: percentiles of
    2,000 resamples, of those in which both groups have a value.

    Where the resamples do not vary (accuracy where A is better minus where B is, of a judge that always says A: +1 in
    each) it is Newcombe's (1998, method 10) from the groups' own intervals [l_a, u_a] and [l_b, u_b] of the means a and
    b: [d - sqrt((a - l_a)² + (u_b - b)²), d + sqrt((u_a - a)² + (b - l_b)²)] with d = a - b. Raises ValueError for an
    empty group.
    """
    if not one or not other:
        raise ValueError(f"groups of {len(one)} and {len(other)} values have no difference")
    names = {name: number for number, name in enumerate(sorted({cluster for cluster, _ in (*one, *other)}))}
    sums, counts = np.zeros((2, len(names))), np.zeros((2, len(names)))
    for row, group in enumerate((one, other)):
        for cluster, value in group:
            sums[row, names[cluster]] += value
            counts[row, names[cluster]] += 1
    drawn = np.random.default_rng(seed).integers(0, len(names), size=(RESAMPLES, len(names)))
    both = np.all([counts[row][drawn].sum(axis=1) > 0 for row in (0, 1)], axis=0)
    means = [sums[row][drawn[both]].sum(axis=1) / counts[row][drawn[both]].sum(axis=1) for row in (0, 1)]
    gaps = means[0] - means[1]
    if len(gaps) and np.ptp(gaps) > 1e-12:
        low, high = np.quantile(gaps, [0.025, 0.975])
        return float(low), float(high)
    (a, low_a, high_a), (b, low_b, high_b) = (_mean(group) for group in (one, other))
    below, above = np.hypot(a - low_a, high_b - b), np.hypot(high_a - a, b - low_b)
    return max(-1.0, a - b - float(below)), min(1.0, a - b + float(above))


def _mean(group: Sequence[Measured]) -> tuple[float, float, float]:
    values = [value for _, value in group]
    return sum(values) / len(values), *clustered_mean_ci(values, [cluster for cluster, _ in group])
