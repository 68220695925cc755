"""95 % intervals for items that are not independent: bootstrap over clusters, t for few clusters, Wilson.

The pairs of one case share its text, so whole cases are resampled.
"""

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Union

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Z = 1.959963984540054
"""The 97.5 % point of the normal distribution."""
T = (
    12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934, 2.5705818356363146,
    2.4469118511449786, 2.364624251592784, 2.306004135204166, 2.262157162798205, 2.228138851986274, 2.200985160091639,
    2.1788128296672284, 2.1603686564627913, 2.144786687917804, 2.131449545559776, 2.1199052992212546,
    2.1098155778333156, 2.1009220402410382, 2.0930240544083087, 2.085963447265864, 2.0796138447276795,
    2.0738730679040254, 2.0686576104190486, 2.0638985616280245, 2.0595385527532972, 2.0555294386428735,
    2.0518305164802846, 2.0484071417952454,
)  # fmt: skip
"""The 97.5 % points of Student's t for 1 to 28 degrees of freedom: scipy.special takes a quarter second to import."""
RESAMPLES = 2_000
FEW_CLUSTERS = 30
"""Below this number of clusters a bootstrap interval is too narrow; `_few_clusters_ci` is used (docs/statistics.md)."""
UNRELIABLE_CLUSTERS = 15
"""Tables warn about intervals of fewer clusters: they show the data's spread, but cannot compare judges."""
BATCH = 1 << 20
"""The number of drawn cluster indices in memory at once."""


Values = Union[Sequence[float], "NDArray[np.float64]"]
Clusters = Union[Sequence[str], "NDArray[np.int32]"]
"""The cluster of each value: its name, or a number in the order of the names."""
Measured = tuple[str, float]
"""A cluster and a value in [0, 1]."""


class DifferentPairs(JudgeError):
    """Two judges that were not measured on the same items."""


def clustered_mean_ci(
    values: Values, clusters: Clusters, seed: int = 0, bounds: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """The 95 % interval of the mean of `values`, each within `bounds`. The order of the values does not matter.

    From 30 clusters on, it is the percentile interval of a bootstrap: each of 2,000 resamples draws G of the G clusters
    with replacement, whole, and takes Σ sums / Σ sizes. For fewer clusters see `_few_clusters_ci`.

    If the clusters do not vary (one cluster, or the same mean v in all clusters), a bootstrap interval would have no
    width. Then the interval follows from Wilson: at 95 % confidence at most a share q of the clusters differs from v,
    and those lie anywhere within the bounds, which gives [v - q(v - low), v + q(high - v)]. For a judge that is always
    right this is the Wilson interval of G successes in G trials.
    """
    import numpy as np

    sums, sizes = _cluster_sums(values, clusters, bounds)
    count = len(sums)
    means = sums / sizes
    # Equal means differ in their last bits where clusters have other sizes.
    if means.max() - means.min() < 1e-12:
        mean = float(sums.sum() / sizes.sum())
        differing = wilson_ci(0, count)[1]
        return mean - differing * (mean - bounds[0]), mean + differing * (bounds[1] - mean)
    if count < FEW_CLUSTERS:
        mean = float(sums.sum() / sizes.sum())
        return _few_clusters_ci(mean, (sums - mean * sizes) / sizes.sum(), bounds)
    resampled = [sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1) for drawn in _resamples(count, seed)]
    low, high = np.quantile(np.concatenate(resampled), [0.025, 0.975])
    return float(low), float(high)


def paired_difference_ci(
    values_a: Mapping[str, float], values_b: Mapping[str, float], clusters: Mapping[str, str]
) -> tuple[float, float]:
    """The 95 % interval of mean(a) - mean(b) over the same pairs: `clustered_mean_ci` of the differences by pair.

    All three map pair ids, to values in [0, 1] and to clusters.

    Raises:
        DifferentPairs: The ids differ.
    """
    ids = paired_ids(values_a, values_b)
    return clustered_mean_ci([values_a[i] - values_b[i] for i in ids], [clusters[i] for i in ids], bounds=(-1.0, 1.0))


@dataclass(frozen=True)
class SeedsDifference:
    """`delta` is the mean over seeds and items, `by_seed` the mean of each seed. `ci95` covers the sampling of cases
    for these seeds; the spread of `by_seed` shows the variation between seeds."""

    delta: float
    ci95: tuple[float, float]
    by_seed: tuple[float, ...]


def difference_over_seeds(
    after: Sequence[Mapping[str, float]], before: Sequence[Mapping[str, float]], clusters: Mapping[str, str]
) -> SeedsDifference:
    """mean(after) - mean(before), with one mapping of item id to value per seed.

    The values of an item are averaged over the seeds, then paired by item. The interval is clustered.

    Raises:
        DifferentPairs: The ids differ.
    """
    means = [{i: sum(seed[i] for seed in seeds) / len(seeds) for i in seeds[0]} for seeds in (after, before)]
    by_seed = tuple(
        (sum(later.values()) - sum(earlier.values())) / len(earlier)
        for later, earlier in zip(after, before, strict=True)
    )
    return SeedsDifference(sum(by_seed) / len(by_seed), paired_difference_ci(means[0], means[1], clusters), by_seed)


def gap_ci(one: Sequence[Measured], other: Sequence[Measured], seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of mean(one) - mean(other) by a bootstrap over the clusters of both groups: percentiles of
    those of 2,000 resamples in which both groups have a value. For fewer than 30 clusters see `_few_clusters_ci`.

    If the clusters do not vary (for example the accuracy gap between the classes A and B of a judge that always
    answers A), it is Newcombe's interval (1998, method 10) from the groups' intervals [l_a, u_a] and [l_b, u_b] of
    the means a and b: [d - sqrt((a - l_a)² + (u_b - b)²), d + sqrt((u_a - a)² + (b - l_b)²)] with
    d = a - b.

    Raises:
        ValueError: A group is empty.
    """
    import numpy as np

    if not one or not other:
        raise ValueError(f"groups of {len(one)} and {len(other)} values have no difference")
    names = {name: number for number, name in enumerate(sorted({cluster for cluster, _ in (*one, *other)}))}
    sums, counts = np.zeros((2, len(names))), np.zeros((2, len(names)))
    for side, group in enumerate((one, other)):
        for cluster, value in group:
            sums[side, names[cluster]] += value
            counts[side, names[cluster]] += 1
    totals = counts.sum(axis=1, keepdims=True)
    # How much each cluster moves its group's mean: (sum - mean·size) / total, as in `_few_clusters_ci`.
    influences = (sums - sums.sum(axis=1, keepdims=True) / totals * counts) / totals
    influence = influences[0] - influences[1]
    if len(names) < FEW_CLUSTERS and np.abs(influence).max() > 1e-12:
        means = sums.sum(axis=1) / counts.sum(axis=1)
        return _few_clusters_ci(float(means[0] - means[1]), influence, (-1.0, 1.0))
    parts = []
    for drawn in _resamples(len(names), seed):
        # In a resample of few clusters one of the groups may be empty: it has no difference.
        drawn = drawn[np.all([counts[side][drawn].sum(axis=1) > 0 for side in (0, 1)], axis=0)]
        one_mean, other_mean = (sums[side][drawn].sum(axis=1) / counts[side][drawn].sum(axis=1) for side in (0, 1))
        parts.append(one_mean - other_mean)
    gaps = np.concatenate(parts)
    if len(gaps) and np.ptp(gaps) > 1e-12:
        low, high = np.quantile(gaps, [0.025, 0.975])
        return float(low), float(high)
    (a, low_a, high_a), (b, low_b, high_b) = (_group_interval(group) for group in (one, other))
    below, above = np.hypot(a - low_a, high_b - b), np.hypot(high_a - a, b - low_b)
    return max(-1.0, a - b - float(below)), min(1.0, a - b + float(above))


def paired_ids(values_a: Mapping[str, float], values_b: Mapping[str, float]) -> list[str]:
    """The sorted ids that both judges were measured on.

    Raises:
        DifferentPairs: The ids differ.
    """
    if values_a.keys() != values_b.keys():
        raise different_pairs(sorted(values_a.keys() ^ values_b.keys()))
    return sorted(values_a)


def different_pairs(odd: Sequence[str]) -> DifferentPairs:
    """The error that `odd` items are those of one judge only."""
    return DifferentPairs(
        f"the two judges were not measured on the same items ({len(odd)} in one only, such as {odd[0]}): evaluate both "
        "on the same file"
    )


def wilson_ci(successes: int, trials: int) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share."""
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} of {trials} is not a share")
    # By hand: importing scipy.stats takes longer than any evaluation of a small set.
    share, spread = successes / trials, Z * Z / trials
    centre, width = share + spread / 2, Z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    return max(0.0, (centre - width) / (1 + spread)), min(1.0, (centre + width) / (1 + spread))


def binomial_p(successes: int, trials: int) -> float:
    """The two-sided p of k `successes` in n `trials` of a fair coin, exact: min(1, 2·P(X ≤ min(k, n - k)))."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is not a count")
    return min(1.0, 2 * binomial_tail(min(successes, trials - successes), trials, 0.5))


def binomial_tail(successes: int, trials: int, rate: float) -> float:
    """P(X ≤ k) of a binomial X: Σ_{i ≤ k} C(n, i)·rate^i·(1 - rate)^(n - i)."""
    if not 0 <= successes <= trials or not 0 < rate < 1:
        raise ValueError(f"{successes} of {trials} at a rate of {rate} has no binomial tail")
    if successes == trials:
        return 1.0
    # By hand: importing scipy.special takes longer than most commands that need it. From the last term downwards.
    k, odds = successes, (1 - rate) / rate
    log_ways = math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1)
    total, term, logarithm = 0.0, 1.0, log_ways + k * math.log(rate) + (trials - k) * math.log1p(-rate)
    for i in range(k, -1, -1):
        total += term
        term *= i * odds / (trials - i + 1)
        if term < 1e-18 * total and i * odds < trials - i + 1:
            break
        if term > 1e200:
            term, total, logarithm = term / 1e200, total / 1e200, logarithm + 200 * math.log(10)
    return min(1.0, math.exp(logarithm + math.log(total)))


def by_cluster(values: Values, clusters: Clusters) -> "Iterator[list[float]]":
    """The values of each cluster in their order; the clusters in the order of their names or numbers."""
    import numpy as np

    if not isinstance(clusters, np.ndarray):
        ranks = {name: rank for rank, name in enumerate(sorted(set(clusters)))}
        clusters = np.array([ranks[name] for name in clusters], dtype=np.int32)
    order = np.argsort(clusters, kind="stable")
    ordered, own = np.asarray(values, dtype=np.float64)[order], clusters[order]
    edges = np.concatenate(([0], np.flatnonzero(own[1:] != own[:-1]) + 1, [len(own)]))
    return (ordered[start:end].tolist() for start, end in pairwise(edges))


def _resamples(count: int, seed: int) -> "Iterator[NDArray[np.int64]]":
    """The clusters of all resamples, [resamples, count], in blocks: those of a large benchmark take gigabytes
    together."""
    import numpy as np

    generator, step = np.random.default_rng(seed), max(1, BATCH // count)
    for start in range(0, RESAMPLES, step):
        yield generator.integers(0, count, size=(min(step, RESAMPLES - start), count))


def _cluster_sums(
    values: Values, clusters: Clusters, bounds: tuple[float, float]
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """The sum and the size of each cluster, sorted by name."""
    import numpy as np

    if len(values) != len(clusters) or not len(values):
        raise ValueError(f"no interval for {counted(len(values), 'value')} in {counted(len(clusters), 'cluster')}")
    given = np.asarray(values, dtype=np.float64)
    if len(outside := given[~((given >= bounds[0]) & (given <= bounds[1]))]):
        raise ValueError(f"{outside[0]} is outside {bounds}")
    sums, sizes = array("d"), array("d")
    for part in by_cluster(given, clusters):
        # fsum rounds once, so the order of the values does not change the interval.
        sums.append(math.fsum(part))
        sizes.append(len(part))
    return np.frombuffer(sums), np.frombuffer(sizes)


def _few_clusters_ci(
    estimate: float, influence: "NDArray[np.float64]", bounds: tuple[float, float]
) -> tuple[float, float]:
    """The interval of an estimate between `bounds` from G clusters by Student's t with G - 1 degrees of freedom.

    `influence` has the effect of each cluster on the estimate, here (sum - mean·size) / Σ sizes. The cluster-robust
    standard error is sqrt(G/(G - 1)·Σ influence²). The interval is taken on the logit scale between the bounds, which
    keeps it inside them (as `svyciprop` of R's survey package does).
    """
    count, low, width = len(influence), bounds[0], bounds[1] - bounds[0]
    share = (estimate - low) / width
    error = math.sqrt(count / (count - 1) * float(influence @ influence)) / width
    reach = T[count - 2] * error / (share * (1 - share))
    center = math.log(share / (1 - share))
    return low + width * _expit(center - reach), low + width * _expit(center + reach)


def _expit(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def _group_interval(group: Sequence[Measured]) -> tuple[float, float, float]:
    values = [value for _, value in group]
    return sum(values) / len(values), *clustered_mean_ci(values, [cluster for cluster, _ in group])
