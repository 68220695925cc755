"""How well scores order items as the gold does: rank correlations and the accuracy of the pairs that scores imply.

The items of one call belong together (the answers to one query); over several queries, average or add. Equal scores
are ties. A correlation with a constant side, or of fewer than two items, is undefined: None, never 0. NaN and two
lengths raise ValueError.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Scores = Sequence[float]


@dataclass(frozen=True)
class PairAccuracy:
    """Pairs of items that the gold tells apart, and what scores made of them: `right` ordered as the gold does,
    `tied`, `missing` (a score is missing), the rest the wrong way round. Over several queries: `pooled`."""

    pairs: int
    right: int
    tied: int
    missing: int

    @property
    def strict(self) -> float | None:
        """right / pairs, a tie is wrong (LongJudgeBench, Eq. 6 within one query); None without a pair."""
        return self.right / self.pairs if self.pairs else None

    @property
    def half(self) -> float | None:
        """(right + tied/2) / pairs: what strict becomes on average if ties are broken by a coin; None without a pair.
        Coarse scores tie often, so that judges with other scales compare fairly on this one only."""
        return (self.right + self.tied / 2) / self.pairs if self.pairs else None

    @property
    def tie_rate(self) -> float | None:
        """tied / pairs; None without a pair."""
        return self.tied / self.pairs if self.pairs else None


def pair_accuracy(gold: Scores, predicted: Sequence[float | None]) -> PairAccuracy:
    """Every pair of the items that the gold scores differently, by the sign of the predicted difference. None is a
    score that the judge did not give: its pairs stay in the denominator, neither right nor tied."""
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
    """All pairs of several queries together: the micro-average. The paper's macro-average is the mean of `strict`."""
    counted = list(parts)
    return PairAccuracy(
        sum(part.pairs for part in counted),
        sum(part.right for part in counted),
        sum(part.tied for part in counted),
        sum(part.missing for part in counted),
    )


def ranks(scores: Scores) -> list[float]:
    """1 for the highest score, n for the lowest; equal scores share the mean of their places (LongJudgeBench's
    conversion of scores to ranks)."""
    from scipy.stats import rankdata

    return [float(rank) for rank in rankdata(-_array(scores))]


def spearman(one: Scores, other: Scores) -> float | None:
    """Spearman's rho: the Pearson correlation of the `ranks`, Σ(r - r̄)(s - s̄) / sqrt(Σ(r - r̄)²·Σ(s - s̄)²), which is
    right with ties, where 1 - 6Σd²/(n³ - n) is not. None where a side is constant."""
    _check(one, other)
    r, s = (np.array(ranks(side)) - (len(side) + 1) / 2 for side in (one, other))
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


def _array(scores: Scores) -> NDArray[np.float64]:
    values = np.array(scores, dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError("NaN is no score: it is above, below and equal to nothing")
    return values


def _check(one: Scores, other: Scores) -> None:
    if len(one) != len(other):
        raise ValueError(f"{len(one)} and {len(other)} scores do not belong to the same items")
    _array(one)
    _array(other)
