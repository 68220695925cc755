"""Agreement of several people who each labelled some of the items, and of a judge with them.

`ratings` has the shape [items, people]; a label is its number in a list, and NaN where a person gave none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Level = Literal["nominal", "ordinal"]
EPSILON = 0.15
FALSE_DISCOVERY = 0.05
FEWEST_ITEMS = 30
"""With fewer shared items the alt-test of a person is Wilcoxon's, not Student's."""


def _counts(ratings: Floats, labels: int) -> Floats:
    """How often each item has each label, [items, labels]."""
    return np.stack([(ratings == label).sum(1) for label in range(labels)], axis=1).astype(np.float64)


def coincidences(ratings: Floats, labels: int) -> Floats:
    """The coincidence matrix of each item, [items, labels, labels]: of n ratings each ordered pair counts 1/(n - 1).
    Items with one rating have zeros."""
    counts = _counts(ratings, labels)
    n = counts.sum(1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(labels)
    return np.asarray(pairs / np.where(n > 1, n - 1, 1)[:, None, None])


def alpha(tables: Floats, level: Level | Floats) -> Floats:
    """Krippendorff's alpha 1 - (n - 1)·Σ o·δ² / Σ n_c·n_k·δ² of coincidence matrices [..., K, K] (the sums over items).
    The ordinal δ² is (Σ_{g=c..k} n_g - (n_c + n_k)/2)²; another may be given, [K, K]. NaN without variation."""
    margins = tables.sum(-1)
    if not isinstance(level, str):
        distance = level
    elif level == "ordinal":
        before = np.cumsum(margins, axis=-1) - margins / 2
        distance = (before[..., :, None] - before[..., None, :]) ** 2
    else:
        distance = 1 - np.eye(tables.shape[-1])
    expected = (margins[..., :, None] * margins[..., None, :] * distance).sum((-2, -1))
    observed = (tables * distance).sum((-2, -1)) * (margins.sum(-1) - 1)
    ratio = np.divide(observed, expected, out=np.full(np.shape(expected), np.nan), where=expected > 0)
    return np.asarray(1 - ratio)


def interval_parts(values: Floats) -> Floats:
    """What `interval_alpha` needs of the numbers of each item, [items, 4]: Σ δ² / (n - 1) over ordered pairs of its n
    ratings, n, Σ x and Σ x². Items with one rating have zeros. Parts of clusters add up."""
    n, total, squares = (~np.isnan(values)).sum(1), np.nansum(values, 1), np.nansum(values**2, 1)
    observed = 2 * (n * squares - total**2) / np.maximum(n - 1, 1)
    return np.asarray(np.stack([observed, n, total, squares], axis=1) * (n > 1)[:, None], dtype=np.float64)


def interval_alpha(parts: Floats) -> Floats:
    """Krippendorff's alpha with δ² = (x - y)² of summed `interval_parts` [..., 4]. NaN without variation."""
    observed, n, total, squares = np.moveaxis(parts, -1, 0)
    expected = 2 * (n * squares - total**2)
    ratio = np.divide(observed * (n - 1), expected, out=np.full(np.shape(expected), np.nan), where=expected > 1e-12)
    return np.asarray(1 - ratio)


def fleiss_kappa(ratings: Floats, labels: int) -> float | None:
    """Fleiss' (1971) kappa; None if items have unequal numbers of ratings, one each, or a single label throughout."""
    counts = _counts(ratings, labels)
    n = counts.sum(1)
    if len(set(n)) != 1 or n[0] < 2:
        return None
    observed = ((counts * counts).sum(1) - n).mean() / (n[0] * (n[0] - 1))
    shares = counts.sum(0) / counts.sum()
    chance = float((shares * shares).sum())
    return None if chance == 1 else float((observed - chance) / (1 - chance))


def gwet_ac1(ratings: Floats, labels: int) -> float:
    """Gwet's AC1 of several people with gaps: the mean over items with two ratings or more of the share of equal
    pairs, corrected by p_e = Σ π_k·(1 - π_k) / (K - 1), with π_k the mean over items of the share of label k."""
    counts = _counts(ratings, labels)
    counts = counts[counts.sum(1) > 0]
    n = counts.sum(1)
    shared = n > 1
    observed = (((counts * counts).sum(1) - n)[shared] / (n * (n - 1))[shared]).mean()
    shares = (counts / n[:, None]).mean(0)
    chance = float((shares * (1 - shares)).sum()) / (labels - 1)
    return float((observed - chance) / (1 - chance))


def equal_pairs(repeats: Sequence[Sequence[object]]) -> float | None:
    """The share of equal pairs of repeated answers: for K answers to an item Σ n_c·(n_c - 1) / (K·(K - 1)), then the
    mean over items with at least two. None without such items."""
    shares = []
    for answers in repeats:
        if (k := len(answers)) > 1:
            counts = [answers.count(answer) for answer in set(answers)]
            shares.append(sum(c * (c - 1) for c in counts) / (k * (k - 1)))
    return sum(shares) / len(shares) if shares else None


@dataclass(frozen=True)
class Ceiling:
    """How well each person agrees with the others, and the judge on the same items with the same people.

    `people` and `judge` have one value for each person of `who` (columns of the ratings): means over the items that
    this person and another one labelled. `difference` is the mean over items of (judge - person), `lower` its one-sided
    95 % limit by clusters."""

    who: tuple[int, ...]
    people: tuple[float, ...]
    judge: tuple[float, ...]
    items: tuple[int, ...]
    difference: float | None
    lower: float | None

    @property
    def means(self) -> tuple[float, float]:
        """People against people, and the judge against people."""
        return float(np.mean(self.people)), float(np.mean(self.judge))


def _left_out(ratings: Floats, judge: Floats, values: Floats | None) -> tuple[Floats, Floats]:
    """s_h and s_j of each item and person, [items, people], NaN without another person: how well the person, and the
    judge in the same place, agree with the other people. Without `values` it is the mean of equality, with them minus
    the mean distance."""

    def score(own: Floats, others: Floats) -> Floats:
        if values is None:
            return np.where(np.isnan(others), np.nan, (own[:, None] == others).astype(np.float64))
        given = np.where(np.isnan(own), np.nan, values[np.nan_to_num(own).astype(int)])
        scale = np.where(np.isnan(others), np.nan, values[np.nan_to_num(others).astype(int)])
        # A judge without an answer is as far off as the scale allows.
        furthest = float(values.max() - values.min())
        return -np.where(np.isnan(given)[:, None] & ~np.isnan(scale), furthest, np.abs(given[:, None] - scale))

    people, shown = np.full(ratings.shape, np.nan), np.full(ratings.shape, np.nan)
    for person in range(ratings.shape[1]):
        others = np.delete(ratings, person, axis=1)
        rows = ~np.isnan(ratings[:, person]) & ~np.isnan(others).all(1)
        if rows.any():
            people[rows, person] = np.nanmean(score(ratings[rows, person], others[rows]), axis=1)
            shown[rows, person] = np.nanmean(score(judge[rows], others[rows]), axis=1)
    return people, shown


def ceiling(
    ratings: Floats, judge: Floats, clusters: Sequence[str], values: Sequence[float] | None = None
) -> Ceiling | None:
    """The human ceiling by leaving one person out at a time. `values` of an ordinal scale measure by distance. None if
    no item has two people."""
    scale = None if values is None else np.array(values, dtype=np.float64)
    people, shown = _left_out(ratings, judge, scale)
    used = ~np.isnan(people)
    if not used.any():
        return None
    known, rows = np.asarray(used.any(0)), np.asarray(used.any(1))
    gaps = np.nanmean((shown - people)[rows], axis=1)
    width = 1.0 if scale is None else float(np.ptp(scale))
    lower = mean_lower(gaps, [cluster for cluster, row in zip(clusters, rows, strict=True) if row], -width)
    return Ceiling(
        tuple(np.flatnonzero(known).tolist()),
        tuple(np.nanmean(people[:, known], axis=0).tolist()),
        tuple(np.nanmean(shown[:, known], axis=0).tolist()),
        tuple(used[:, known].sum(0).tolist()),
        float(gaps.mean()),
        lower,
    )


def mean_lower(values: Floats, clusters: Sequence[str], low: float = 0.0) -> float | None:
    """The one-sided 95 % lower limit of a mean of values from `low` up, by Student's t with the cluster-robust error.
    None for one cluster. If the clusters do not vary, as many as one may have overlooked can be at `low`
    (`rates.exact_limits`)."""
    from scipy.special import stdtrit

    from judge_r1.statistics.intervals import by_cluster
    from judge_r1.statistics.rates import exact_limits

    mean = float(values.mean())
    influence = np.array([sum(part) - mean * len(part) for part in by_cluster(values, clusters)]) / len(values)
    if (count := len(influence)) < 2:
        return None
    if float(np.abs(influence).max()) < 1e-12:
        return mean - exact_limits(0, count).upper * (mean - low)
    error = float(np.sqrt(count / (count - 1) * float(influence @ influence)))
    return max(low, mean - float(stdtrit(count - 1, 0.95)) * error)


@dataclass(frozen=True)
class AltTest:
    """The alternative annotator test of a judge. `p` has one value a person, None where too few items are shared."""

    winning_rate: float
    advantage: float
    p: tuple[float | None, ...]
    epsilon: float

    @property
    def passed(self) -> bool:
        return self.winning_rate >= 0.5


def alt_test(
    ratings: Floats, judge: Floats, epsilon: float = EPSILON, values: Sequence[float] | None = None
) -> AltTest | None:
    """The alternative annotator test (Calderon, Reichart and Dror, ACL 2025).

    For each person, d = [s_h ≥ s_j] - [s_j ≥ s_h] over the shared items is tested against ε from below, by a t test
    from 30 items on, else by Wilcoxon's signed-rank test. The winning rate is the share of the people whose hypothesis
    is rejected at a false discovery rate of .05 (Benjamini and Yekutieli); `advantage` is the mean share [s_j ≥ s_h].
    None if no person shares items with another.
    """
    scale = None if values is None else np.array(values, dtype=np.float64)
    people, shown = _left_out(ratings, judge, scale)
    found: list[float | None] = []
    advantages = []
    for person in range(ratings.shape[1]):
        rows = ~np.isnan(people[:, person])
        if not rows.any():
            continue
        h, j = people[rows, person], shown[rows, person]
        advantages.append(float((j >= h - 1e-12).mean()))
        d = (h >= j - 1e-12).astype(np.float64) - (j >= h - 1e-12)
        found.append(_below(d, epsilon))
    tested = [p for p in found if p is not None]
    if not tested:
        return None
    return AltTest(_rejected(tested) / len(tested), float(np.mean(advantages)), tuple(found), epsilon)


def _below(d: Floats, epsilon: float) -> float:
    """The one-sided p that the mean of d is below epsilon."""
    from scipy.stats import ttest_1samp, wilcoxon

    if np.ptp(d) == 0:  # Wilcoxon's exact p of values that are all on one side
        return 0.5 ** len(d) if d[0] < epsilon else 1.0
    if len(d) < FEWEST_ITEMS:
        return float(wilcoxon(d - epsilon, alternative="less").pvalue)
    return float(ttest_1samp(d, epsilon, alternative="less").pvalue)


def _rejected(p_values: Sequence[float]) -> int:
    """How many hypotheses Benjamini and Yekutieli's step-up procedure rejects."""
    m = len(p_values)
    harmonic = sum(1 / rank for rank in range(1, m + 1))
    ranked = sorted(p_values)
    return max((rank for rank, p in enumerate(ranked, 1) if p <= rank * FALSE_DISCOVERY / (m * harmonic)), default=0)
