"""Paired tests of two judges on the same items: permutation by cluster, and Holm's adjustment."""

import math
from collections.abc import Hashable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from judge_r1.statistics.intervals import BATCH, Clusters, by_cluster, paired_ids

K = TypeVar("K", bound=Hashable)
EXACT_CLUSTERS = 20
"""With at most this number of differing clusters all 2^k sign vectors are enumerated (a million sums)."""
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
