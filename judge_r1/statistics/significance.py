"""Paired tests of two judges on the same items: permutation by cluster, and Holm's adjustment."""

import math
from collections.abc import Hashable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from judge_r1.statistics.intervals import BATCH, Clusters, by_cluster, clustered_mean_ci, paired_ids

K = TypeVar("K", bound=Hashable)
EXACT_CLUSTERS = 20
"""With at most this number of differing clusters all 2^k sign vectors are enumerated (a million sums)."""
MOST_FLIPPED = 200
"""Up to this number of clusters an interval inverts the test."""
LEVEL = 0.05
DRAWS = 19_999
"""The number of sampled sign vectors otherwise: the smallest p is 1/20,000."""


class Permutation(NamedTuple):
    """mean(a) - mean(b), its two-sided p, the number of clusters, the number of clusters in which the two differ, and
    whether p is exact."""

    difference: float
    p: float
    clusters: int
    differing: int
    exact: bool


def permutation(
    values_a: Mapping[str, float], values_b: Mapping[str, float], clusters: Mapping[str, str], seed: int = 0
) -> Permutation:
    """The paired sign-flip test by cluster.

    Under the null hypothesis, swapping the two judges within a whole cluster does not change the distribution of the
    data: the sum of its differences S_g is as likely as -S_g. p is the share of all sign vectors s with
    |Σ s_g·S_g| ≥ |Σ S_g|. Items of a cluster may depend on each other; clusters must be independent. With k differing
    clusters p is at least 2^(1 - k), so five of them never reach .05.

    Exact for at most 20 differing clusters. Otherwise 19,999 sign vectors are drawn from `seed` and
    p = (1 + hits) / (1 + draws), which is a valid p value (Phipson and Smyth, 2010).

    All three map item ids, to finite values and to clusters; the order of the items does not matter.

    Raises:
        DifferentPairs: The ids differ.
    """
    ids = paired_ids(values_a, values_b)
    return sign_flips(np.array([values_a[i] - values_b[i] for i in ids]), [clusters[i] for i in ids], seed)


def sign_flips(differences: NDArray[np.float64], clusters: Clusters, seed: int = 0) -> Permutation:
    """`permutation` of the differences of the items, which are in the order of their ids."""
    if not len(differences):
        raise ValueError("no items to compare")
    if not np.isfinite(differences).all():
        raise ValueError("values must be finite")
    sums = np.array([sum(part) for part in by_cluster(differences, clusters)])
    # tolerances, so that rounding errors neither make a difference of equal sums nor break ties
    scale = math.fsum(np.abs(differences))
    count, sums = len(sums), sums[np.abs(sums) > 1e-12 * scale]
    least = abs(float(sums.sum())) - 1e-9 * scale
    exact = len(sums) <= EXACT_CLUSTERS
    p = _share_of_all(sums, least) if exact else _share_of_drawn(sums, least, seed)
    return Permutation(float(sums.sum()) / len(differences), p, count, len(sums), exact)


def flip_ci(
    differences: NDArray[np.float64], clusters: Clusters, test: Permutation, bounds: tuple[float, float] = (-1.0, 1.0)
) -> tuple[float, float]:
    """The 95 % interval that belongs to `test`, the `sign_flips` of the same differences: it holds 0 if, and only if, p
    is at least .05.

    It is the inverted test: all means δ for which flipping the clusters' sums of (difference - δ) gives p ≥ .05. From
    200 clusters on it is Student's t interval with the cluster-robust error, and where the clusters do not vary that of
    `clustered_mean_ci`.
    """
    from scipy.special import stdtrit

    parts = list(by_cluster(differences, clusters))
    sums, sizes = np.array([sum(part) for part in parts]), np.array([len(part) for part in parts], dtype=np.float64)
    mean, means = float(sums.sum() / sizes.sum()), sums / sizes
    if np.ptp(means) < 1e-12:
        low, high = clustered_mean_ci(differences, clusters, bounds=bounds)
    elif len(sums) > MOST_FLIPPED:
        influence = (sums - mean * sizes) / sizes.sum()
        error = math.sqrt(len(sums) / (len(sums) - 1) * float(influence @ influence))
        low, high = np.clip(mean + stdtrit(len(sums) - 1, [0.025, 0.975]) * error, *bounds).tolist()
    else:
        flipped = _flipped(sums, sizes)
        low, high = (_crossing(flipped, sums.sum(), sizes.sum(), mean, end) for end in bounds)
    # Drawn flips and exact ones differ in the last digits of p: 0 is where the test says.
    if test.p >= LEVEL:
        return min(low, 0.0), max(high, 0.0)
    return (max(low, math.ulp(0.0)), high) if mean > 0 else (low, min(high, -math.ulp(0.0)))


def _flipped(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums and sizes under each sign vector, [vectors, 2]: all vectors of few clusters, else drawn ones."""
    both = np.stack([sums, sizes], axis=1)
    if len(sums) <= EXACT_CLUSTERS:
        totals = np.zeros((1, 2))
        for row in both:
            totals = np.concatenate([totals + row, totals - row])
        return totals
    generator, step = np.random.default_rng(0), max(1, BATCH // len(sums))
    parts = []
    for start in range(0, DRAWS, step):
        signs = 1 - 2 * generator.integers(0, 2, size=(min(step, DRAWS - start), len(sums)), dtype=np.int8)
        parts.append(signs @ both)
    return np.concatenate([*parts, both.sum(0, keepdims=True)])


def _crossing(flipped: NDArray[np.float64], total: float, size: float, mean: float, end: float) -> float:
    """The δ between the mean and one end at which p falls below the level, by bisection."""

    def kept(delta: float) -> bool:
        least = abs(total - delta * size) - 1e-9 * size
        return float((np.abs(flipped @ (1.0, -delta)) >= least).mean()) >= LEVEL

    if kept(end):
        return end
    inside, outside = mean, end
    while abs(outside - inside) > 1e-6:
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if kept(middle) else (inside, middle)
    return inside


def holm(p_values: Mapping[K, float]) -> dict[K, float]:
    """Holm's (1979) adjusted p of m tests made together: with p_(1) ≤ … ≤ p_(m), max_{j ≤ i} min(1, (m - j + 1)·p_(j)).
    Rejecting those at most α keeps the family-wise error rate at most α under any dependence of the tests."""
    if odd := [p for p in p_values.values() if not 0 <= p <= 1]:
        raise ValueError(f"{odd[0]} is not a p value")
    adjusted: dict[K, float] = {}
    least = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda entry: entry[1])):
        least = max(least, min(1.0, (len(p_values) - rank) * p))
        adjusted[name] = least
    return {name: adjusted[name] for name in p_values}


def _share_of_all(sums: NDArray[np.float64], least: float) -> float:
    totals = np.zeros(1)
    for value in sums:
        totals = np.concatenate([totals + value, totals - value])
    return float((np.abs(totals) >= least).mean())


def _share_of_drawn(sums: NDArray[np.float64], least: float, seed: int) -> float:
    generator = np.random.default_rng(seed)
    step = max(1, BATCH // len(sums))
    hits = 0
    for start in range(0, DRAWS, step):
        flips = generator.integers(0, 2, size=(min(step, DRAWS - start), len(sums)), dtype=np.int8)
        totals = sums.sum() - 2 * (flips @ sums)
        hits += int((np.abs(totals) >= least).sum())
    return (1 + hits) / (1 + DRAWS)
