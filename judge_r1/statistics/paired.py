"""Tests on paired differences of scores: t, Wilcoxon, sign, and equivalence (TOST). One difference per document.

Scores in half points have many ties, so the t-test is shown with tests that need no normal distribution.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from judge_r1.statistics.intervals import binomial_p

EXACT_DIFFERENCES = 200
"""With at most this number of differences above or below 0, the distribution of the signed-rank sum is counted."""
DECIMALS = 12
"""Differences that agree to this number of decimals are ties, and 0 to it are zeros: .3 - .2 and .2 - .1 are equal."""


class PairedT(NamedTuple):
    """The one-sample t-test of differences against 0. `t` is None if all differences are equal: then `p` and `p_less`
    are those of the sign test. `p` is two-sided, `p_less` is for a mean below 0. `ci95` is that of the mean; it is None
    for fewer than six equal differences, which the sign test does not tell from chance."""

    n: int
    mean: float
    sd: float
    t: float | None
    df: int
    p: float
    p_less: float
    ci95: tuple[float, float] | None


class Equivalence(NamedTuple):
    """Two one-sided t-tests: `p` is the larger one, for the claim that the mean lies within ±`margin`. If all
    differences are equal, `p` is that of the sign test."""

    p: float
    margin: float


def paired_t(differences: Sequence[float]) -> PairedT:
    """t = mean / (sd/√n) with df = n - 1 and sd with n - 1 in its denominator. Raises: ValueError below two values."""
    from scipy.special import stdtr, stdtrit

    values = _checked(differences)
    n, mean, sd = len(values), float(values.mean()), float(values.std(ddof=1))
    if _constant(values):
        interval = (mean, mean) if 2 * 0.5**n < 0.05 else None
        return PairedT(n, mean, 0.0, None, n - 1, sign_test(differences), 0.5**n if mean < 0 else 1.0, interval)
    t = mean / (sd / math.sqrt(n))
    reach = float(stdtrit(n - 1, 0.975)) * sd / math.sqrt(n)
    p_less = float(stdtr(n - 1, t))
    return PairedT(n, mean, sd, t, n - 1, 2 * float(stdtr(n - 1, -abs(t))), p_less, (mean - reach, mean + reach))


def sign_test(differences: Sequence[float]) -> float:
    """The two-sided p of as many differences above 0 as below it; zeros are left out."""
    values = np.round(np.asarray(differences, dtype=float), DECIMALS)
    below, above = int((values < 0).sum()), int((values > 0).sum())
    return binomial_p(below, below + above) if below + above else 1.0


def wilcoxon(differences: Sequence[float]) -> float:
    """The two-sided p of Wilcoxon's signed-rank test; zeros are left out, and ties get mean ranks. 1 without any
    difference.

    Exact for at most 200 differences, with ties, too: W is the rank sum of the differences above 0, each sign has a
    probability of one half, and p = min(1, 2·min(P(W ≤ w), P(W ≥ w))). More differences have SciPy's normal
    approximation with its correction for ties.

    Raises: ValueError below two values.
    """
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as signed_rank

    values = np.round(_checked(differences), DECIMALS)
    values = values[values != 0]
    if not len(values):
        return 1.0
    if len(values) > EXACT_DIFFERENCES:
        return float(signed_rank(values, method="asymptotic").pvalue)
    doubled = np.rint(2 * rankdata(np.abs(values))).astype(int)  # mean ranks are multiples of one half
    chances = np.zeros(int(doubled.sum()) + 1)  # chances[s]: the probability of the rank sum s/2
    chances[0] = 1.0
    for rank in doubled.tolist():
        chances[rank:] = (chances[rank:] + chances[:-rank]) / 2
        chances[:rank] /= 2
    found = int(doubled[values > 0].sum())
    return min(1.0, 2 * float(min(chances[: found + 1].sum(), chances[found:].sum())))


def equivalence(differences: Sequence[float], margin: float) -> Equivalence:
    """TOST (Schuirmann, 1987): a p below .05 says that the mean lies within ±margin. Equal differences inside of the
    margin have the p of the sign test, ½ⁿ, because they have no standard deviation.

    Raises: ValueError below two values, or for a margin that is not above 0.
    """
    from scipy.special import stdtr

    values = _checked(differences)
    if margin <= 0:
        raise ValueError(f"a margin must be above 0, not {margin}")
    n, mean = len(values), float(values.mean())
    if _constant(values):
        return Equivalence(0.5**n if abs(mean) < margin else 1.0, margin)
    error = float(values.std(ddof=1)) / math.sqrt(n)
    return Equivalence(
        float(max(stdtr(n - 1, -(mean + margin) / error), stdtr(n - 1, (mean - margin) / error))), margin
    )


def _checked(differences: Sequence[float]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    values = np.asarray(differences, dtype=float)
    if len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(f"a paired test needs two finite differences or more, not {len(values)}")
    return values


def _constant(values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> bool:
    return bool(np.ptp(values) < 1e-12)
