"""Rank correlations of scores with the gold, and the accuracy of the pairs that scores imply.

The items of one call belong together (the answers to one query); over several queries, average or add. Equal scores
are ties. A correlation with a constant side, or of fewer than two items, is None, not 0. NaN and unequal lengths raise
ValueError.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from judge_r1.statistics.intervals import FEW_CLUSTERS

EXACT_ITEMS = 8
"""With at most this number of items all orders are enumerated for the p of a rank correlation (40,320)."""
DRAWN_ITEMS = 30
"""With at most this number, 19,999 orders are drawn; above it, the t distribution is close."""
DRAWS = 19_999

Scores = Sequence[float]


@dataclass(frozen=True)
class PairAccuracy:
    """Counts of the `pairs` of items with different gold scores: `right` (ordered as in the gold), `tied` and `missing`
    (without a score); the rest are in the wrong order. `pooled` adds several queries."""

    pairs: int
    right: int
    tied: int
    missing: int

    @property
    def strict(self) -> float | None:
        """right / pairs: a tie is wrong (LongJudgeBench, Eq. 6 within one query). None without pairs."""
        return self.right / self.pairs if self.pairs else None

    @property
    def half(self) -> float | None:
        """(right + tied/2) / pairs: the expected `strict` if ties are broken at random. None without pairs.

        Coarse scores tie often, so only this measure compares judges of different scales fairly."""
        return (self.right + self.tied / 2) / self.pairs if self.pairs else None

    @property
    def tie_rate(self) -> float | None:
        """tied / pairs; None without pairs."""
        return self.tied / self.pairs if self.pairs else None


def pair_accuracy(gold: Scores, predicted: Sequence[float | None]) -> PairAccuracy:
    """Counts the pairs of items with different gold scores, by the sign of the predicted difference.

    None is a missing prediction: its pairs stay in the denominator and are neither right nor tied.
    """
    _check(gold, [0.0 if p is None else p for p in predicted])
    right = tied = missing = pairs = 0
    for (g, p), (h, q) in combinations(zip(gold, predicted, strict=True), 2):
        if g == h:
            continue
        pairs += 1
        if p is None or q is None:
            missing += 1
        elif p == q:
            tied += 1
        else:
            right += (g > h) == (p > q)
    return PairAccuracy(pairs, right, tied, missing)


def pooled(parts: Iterable[PairAccuracy]) -> PairAccuracy:
    """The pairs of several queries together (micro-average). The paper's macro-average is the mean of `strict`."""
    return PairAccuracy(*(sum(counts) for counts in zip((0, 0, 0, 0), *map(astuple, parts), strict=True)))


def ranks(scores: Scores) -> list[float]:
    """Ranks from 1 (highest score) to n; equal scores share their mean rank (LongJudgeBench's conversion)."""
    from scipy.stats import rankdata

    return [float(rank) for rank in rankdata(-_array(scores))]


def pearson(one: Scores, other: Scores) -> float | None:
    """Pearson's r. None if a side is constant."""
    _check(one, other)
    r, s = (_array(side) - float(_array(side).mean()) for side in (one, other))
    return _correlation(r, s) if min(len(set(one)), len(set(other))) > 1 else None


def spearman(one: Scores, other: Scores) -> float | None:
    """Spearman's rho: the Pearson correlation of the `ranks`, Σ(r - r̄)(s - s̄) / sqrt(Σ(r - r̄)²·Σ(s - s̄)²), which
    unlike 1 - 6Σd²/(n³ - n) is correct with ties. None if a side is constant."""
    _check(one, other)
    r, s = (np.array(ranks(side)) - (len(side) + 1) / 2 for side in (one, other))
    return _correlation(r, s)


def _correlation(r: NDArray[np.float64], s: NDArray[np.float64]) -> float | None:
    """The cosine of two centred sides; None if one of them is 0."""
    spread = math.sqrt(float(r @ r) * float(s @ s))
    return min(1.0, max(-1.0, float(r @ s) / spread)) if spread else None


def kendall(one: Scores, other: Scores) -> float | None:
    """Kendall's tau_b: (C - D) / sqrt((C + D + T)·(C + D + U)), with C and D the concordant and discordant pairs of
    items, T and U the pairs tied only in `one` and only in `other`. None if a side is constant."""
    _check(one, other)
    if len(set(one)) < 2 or len(set(other)) < 2:
        return None
    from scipy.stats import kendalltau

    return float(kendalltau(ranks(one), ranks(other)).statistic)  # ranks: infinities are allowed


def correlation_table(
    metrics: Mapping[str, Scores], gold: Scores, clusters: Sequence[str], *, resamples: int = 1000
) -> dict[str, dict[str, float | None]]:
    """Spearman's rho of each metric with the gold on the same items, and its difference to the first metric. `p` is for
    rho = 0, by permutation up to 30 items: unlike the intervals, it takes all items as independent.

    The 95 % percentile intervals come from one bootstrap over clusters, so the differences are paired. A resample with
    a constant side is left out of an interval. An interval without width from fewer than 30 clusters is None: three
    texts in the right order always resample to a rho of 1.
    """
    groups: dict[str, list[int]] = {}
    for index, cluster in enumerate(clusters):
        groups.setdefault(cluster, []).append(index)
    members, rng = list(groups.values()), np.random.default_rng(0)
    drawn: dict[str, list[float | None]] = {name: [] for name in metrics}
    for _ in range(resamples):
        rows = [row for group in rng.integers(len(members), size=len(members)) for row in members[group]]
        for name, values in metrics.items():
            drawn[name].append(spearman([values[row] for row in rows], [gold[row] for row in rows]))
    first = next(iter(metrics))
    table: dict[str, dict[str, float | None]] = {}
    for name, values in metrics.items():
        gaps = [None if a is None or b is None else a - b for a, b in zip(drawn[name], drawn[first], strict=True)]
        low, high = _percentiles(drawn[name], len(members))
        gap_low, gap_high = _percentiles(gaps, len(members)) if name != first else (None, None)
        rho = spearman(values, gold)
        table[name] = {"rho": rho, "low": low, "high": high, "p": _p_of(values, gold), "n": len(gold)}
        table[name] |= {"difference low": gap_low, "difference high": gap_high}
    return table


def _p_of(one: Scores, other: Scores) -> float | None:
    """The two-sided p of Spearman's rho: the share of the orders of `other` with a rho at least as far from 0.

    Exact for at most 8 items. Up to 30 items 19,999 orders are drawn and p = (1 + hits) / (1 + draws). For more items
    it is that of t = rho·sqrt((n - 2) / (1 - rho²)) with n - 2 degrees of freedom, as in SciPy's `spearmanr`.
    """
    rho, n = spearman(one, other), len(one)
    if rho is None:
        return None
    if n > DRAWN_ITEMS:
        from scipy.special import stdtr

        return 0.0 if abs(rho) == 1 else 2 * float(stdtr(n - 2, -abs(rho) * math.sqrt((n - 2) / (1 - rho * rho))))
    r, s = (np.array(ranks(side)) - (n + 1) / 2 for side in (one, other))
    exact = n <= EXACT_ITEMS
    generator = np.random.default_rng(0)
    orders = np.array(list(permutations(s))) if exact else generator.permuted(np.tile(s, (DRAWS, 1)), axis=1)
    # The tolerance keeps orders that tie with the observed one, which rounding could put below it.
    hits = int((np.abs(orders @ r) >= abs(float(r @ s)) - 1e-9).sum())
    return hits / len(orders) if exact else (1 + hits) / (1 + DRAWS)


def _percentiles(values: Iterable[float | None], clusters: int) -> tuple[float | None, float | None]:
    known = [value for value in values if value is not None]
    if not known or (clusters < FEW_CLUSTERS and max(known) - min(known) < 1e-12):
        return None, None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def _array(scores: Scores) -> NDArray[np.float64]:
    values = np.array(scores, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError("NaN is no score: it cannot be ordered")
    return values


def _check(one: Scores, other: Scores) -> None:
    if len(one) != len(other):
        raise ValueError(f"{len(one)} and {len(other)} scores do not belong to the same items")
    _array(one)
    _array(other)
