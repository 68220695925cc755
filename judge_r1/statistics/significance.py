"""Is judge a better than judge b, measured on the same items? Tests that respect that items of a case go together."""

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from judge_r1.core.errors import JudgeError
from judge_r1.statistics.intervals import BATCH, binomial_p, paired_ids

K = TypeVar("K", bound=Hashable)
EXACT_CLUSTERS = 20
"""With at most this many clusters that differ, all 2^k signs are looked at (a million sums)."""
DRAWS = 19_999
"""Signs drawn otherwise: the smallest p is 1/20,000."""


class Clustered(JudgeError):
    """A test for independent items was asked for items that are not."""


class Permutation(NamedTuple):
    """mean(a) - mean(b), its two-sided p, how many clusters the items are of, in how many of them the two differ, and
    whether p is exact."""

    difference: float
    p: float
    clusters: int
    differing: int
    exact: bool


class McNemar(NamedTuple):
    """Items that only a has right, items that only b has right, and the two-sided exact p."""

    only_a: int
    only_b: int
    p: float


def permutation(
    values_a: Mapping[str, float], values_b: Mapping[str, float], clusters: Mapping[str, str], seed: int = 0
) -> Permutation:
    """The paired sign-flip test by cluster.

    If it does not matter which of the two judges is called a, then swapping the names within a whole cluster does not
    change the distribution of the data: the sum of its differences S_g is as likely as -S_g. p is the share of all sign
    vectors s with |Σ s_g·S_g| ≥ |Σ S_g|. Clusters keep their inner dependence, whatever it is; they must be independent
    of each other. With k clusters that differ p is at least 2^(1 - k), so that five of them never reach .05.

    Exact for at most 20 clusters that differ. Otherwise 19,999 sign vectors are drawn from `seed` and
    p = (1 + hits) / (1 + draws), which never claims more than what was drawn (Phipson and Smyth, 2010).

    All three map item ids, to any finite values and to clusters. Raises: DifferentPairs. The order of items is of no
    consequence.
    """
    ids = paired_ids(values_a, values_b)
    if not ids:
        raise ValueError("no items have no difference")
    parts: dict[str, list[float]] = {}
    for item in ids:
        parts.setdefault(clusters[item], []).append(values_a[item] - values_b[item])
    sums = np.array([sum(parts[name]) for name in sorted(parts)])
    if not np.isfinite(sums).all():
        raise ValueError("values must be finite")
    # what rounding leaves of equal sums is no difference, and equal sums must count as equal
    scale = sum(abs(difference) for part in parts.values() for difference in part)
    sums = sums[np.abs(sums) > 1e-12 * scale]
    least = abs(float(sums.sum())) - 1e-9 * scale
    exact = len(sums) <= EXACT_CLUSTERS
    p = _share_of_all(sums, least) if exact else _share_of_drawn(sums, least, seed)
    return Permutation(float(sums.sum()) / len(ids), p, len(parts), len(sums), exact)


def mcnemar(values_a: Mapping[str, float], values_b: Mapping[str, float], clusters: Mapping[str, str]) -> McNemar:
    """McNemar's exact test of right (1) and wrong (0): of the items on which the two judges differ, is each equally
    often the right one? p = `binomial_p` of a's among them.

    Right only where nothing clusters: raises Clustered if two items share a cluster, and DifferentPairs.
    """
    ids = paired_ids(values_a, values_b)
    if odd := [value for values in (values_a, values_b) for value in values.values() if value not in (0, 1)]:
        raise ValueError(f"{odd[0]} is neither right (1) nor wrong (0)")
    if several := [name for name, count in Counter(clusters[item] for item in ids).items() if count > 1]:
        raise Clustered(
            f"McNemar's test needs independent items, and {len(several)} cluster(s) have more than one, such as "
            f"{min(several)}: use the permutation test by cluster"
        )
    only_a = sum(values_a[item] > values_b[item] for item in ids)
    only_b = sum(values_b[item] > values_a[item] for item in ids)
    return McNemar(only_a, only_b, binomial_p(only_a, only_a + only_b))


def holm(p_values: Mapping[K, float]) -> dict[K, float]:
    """Holm's (1979) adjusted p of m tests made together: with p_(1) ≤ … ≤ p_(m), max_{j ≤ i} min(1, (m - j + 1)·p_(j)).
    To reject those at most α keeps the chance of any false rejection at most α, however the tests depend."""
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
