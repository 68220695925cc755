"""The rate of good items in a pool from a judge's verdicts on all of them and people's labels on some.

Which estimate is valid depends on how the labelled items were drawn: `corrected` for a draw that depends on the true
label alone (a set balanced by label), `prediction_powered` for a random sample of the pool, and `stratified` for a draw
by the judge's verdict.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge_r1.core.errors import JudgeError
from judge_r1.statistics.intervals import Z, wilson_ci


class NoInformation(JudgeError):
    """The judge's verdicts say nothing about the labels, or the labels and the pool do not belong together."""


@dataclass(frozen=True)
class Estimate:
    """A rate with its standard error and 95 % interval. `raw` is the estimate before it is limited to [0, 1]."""

    value: float
    error: float
    ci95: tuple[float, float]
    raw: float


class Counts(NamedTuple):
    """Labelled items by label and verdict: `good_passed` of `good` and `bad_failed` of `bad` are judged right."""

    good: int
    good_passed: int
    bad: int
    bad_failed: int

    @property
    def information(self) -> float:
        """Youden's index TPR + TNR - 1."""
        return self.good_passed / self.good + self.bad_failed / self.bad - 1


def corrected(counts: Counts, passed: int, pool: int) -> Estimate:
    """The estimate of Rogan and Gladen (1978), θ = (q + TNR - 1) / (TPR + TNR - 1) with q = passed / pool, and the
    interval of Lang and Reiczigel (2014), which covers the sampling of the labels and of the pool.

    Raises:
        NoInformation: A class has no labels, TPR + TNR ≤ 1, or the interval of TPR + TNR contains 1.
    """
    _informative(counts)
    raw = (passed / pool + counts.bad_failed / counts.bad - 1) / counts.information
    n, q = pool + Z * Z, (passed + Z * Z / 2) / (pool + Z * Z)
    sensitivity = (counts.good_passed + 1) / (counts.good + 2)
    specificity = (counts.bad_failed + 1) / (counts.bad + 2)
    youden = sensitivity + specificity - 1
    theta = (q + specificity - 1) / youden
    by_good = sensitivity * (1 - sensitivity) / (counts.good + 2)
    by_bad = specificity * (1 - specificity) / (counts.bad + 2)
    shift = 2 * Z * Z * (theta * by_good - (1 - theta) * by_bad)
    error = math.sqrt(q * (1 - q) / n + theta**2 * by_good + (1 - theta) ** 2 * by_bad) / youden
    low, high = theta + shift - Z * error, theta + shift + Z * error
    return Estimate(_unit(raw), error, (_unit(low), _unit(high)), raw)


def _informative(counts: Counts) -> None:
    if min(counts.good, counts.bad) < 1:
        raise NoInformation("people's labels hold one class only: label items of both")
    tpr, tnr = counts.good_passed / counts.good, counts.bad_failed / counts.bad
    error = math.sqrt(tpr * (1 - tpr) / counts.good + tnr * (1 - tnr) / counts.bad)
    if counts.information - Z * error <= 0:
        raise NoInformation(
            f"the judge carries no information: it passes {tpr:.2f} of the good items and {1 - tnr:.2f} of the bad ones"
        )


def prediction_powered(labels: Sequence[float], verdicts: Sequence[float], pool: Sequence[float]) -> Estimate:
    """PPI++ (Angelopoulos, Duchi and Zrnic, 2023) for labels of a random sample: λ·mean(F_pool) + mean(Y - λ·F).

    λ = cov(Y, F) / ((1 + n/N)·var(F of both)), limited to [0, 1]; the variance is λ²·var(F_pool)/N + var(Y - λ·F)/n.
    """
    y, f, other = (np.asarray(values, dtype=np.float64) for values in (labels, verdicts, pool))
    n, size = len(y), len(other)
    spread = float(np.concatenate([f, other]).var())
    weight = _unit(float(np.cov(y, f)[0, 1]) / ((1 + n / size) * spread)) if spread and n > 1 else 0.0
    return power_tuned(y, f, other, weight)


def power_tuned(y: NDArray[np.float64], f: NDArray[np.float64], pool: NDArray[np.float64], weight: float) -> Estimate:
    """The estimate for a given λ: 0 uses the labels alone, 1 trusts the verdicts fully."""
    rest = y - weight * f
    raw = weight * float(pool.mean()) + float(rest.mean())
    of_pool = Z * weight * math.sqrt(float(pool.var()) / len(pool))
    below, above = _reach(float(rest.mean()), float(rest.var()) / len(y), len(y), (-weight, 1.0))
    return _estimate(raw, math.hypot(of_pool, below), math.hypot(of_pool, above))


def _reach(mean: float, variance: float, count: int, bounds: tuple[float, float] = (0.0, 1.0)) -> tuple[float, float]:
    """How far a mean of `count` labels reaches below and above: z standard errors. Labels that do not vary reach as far
    as Wilson's interval of a share of 0 (as for `intervals.clustered_mean_ci`)."""
    if variance < 1e-15:
        differing = wilson_ci(0, count)[1]
        return differing * (mean - bounds[0]), differing * (bounds[1] - mean)
    return (reach := Z * math.sqrt(variance)), reach


def _estimate(raw: float, below: float, above: float) -> Estimate:
    return Estimate(_unit(raw), (below + above) / (2 * Z), (_unit(raw - below), _unit(raw + above)), raw)


class Stratum(NamedTuple):
    """Items of one verdict: how many the pool has, how many are labelled, and how many of these are good."""

    pool: int
    labelled: int
    good: int


def stratified(strata: Sequence[Stratum], *, at_random: bool = False) -> Estimate:
    """Σ w_s·ȳ_s with the pool's weights w_s, for labels that were drawn by verdict: the rate of this pool, with
    variances Σ w_s²·ȳ_s·(1 - ȳ_s)/(n_s - 1).

    `at_random`: the labels are a random sample, whose strata happen to have these sizes. Then it estimates the rate of
    the population that the pool is drawn from, as `prediction_powered` does, with n_s in the place of n_s - 1 and the
    pool's own part Σ w_s·(ȳ_s - θ)²/N. The labels of a stratum that are all equal count with Wilson's interval; the
    distances of the strata are added as squares (Zou and Donner, 2008).

    Raises:
        NoInformation: A stratum of the pool has fewer than two labels.
    """
    present = [stratum for stratum in strata if stratum.pool]
    if min((stratum.labelled for stratum in present), default=0) < 2:
        raise NoInformation("items of one verdict have fewer than two labels: label some of each verdict")
    size = sum(stratum.pool for stratum in present)
    shares = [stratum.pool / size for stratum in present]
    rates = [stratum.good / stratum.labelled for stratum in present]
    value = sum(share * rate for share, rate in zip(shares, rates, strict=True))
    reaches = [
        _reach(rate, rate * (1 - rate) / (stratum.labelled - (not at_random)), stratum.labelled)
        for rate, stratum in zip(rates, present, strict=True)
    ]
    of_pool = sum(share * (rate - value) ** 2 for share, rate in zip(shares, rates, strict=True)) / size
    own = Z * math.sqrt(of_pool) if at_random else 0.0
    below, above = (
        math.hypot(own, *(share * reach[side] for share, reach in zip(shares, reaches, strict=True))) for side in (0, 1)
    )
    return _estimate(value, below, above)


class Weighted(NamedTuple):
    """What the judge's verdicts are worth in the pool, for labels that were drawn by verdict (Begg and Greenes). None
    where the labels hold one class only."""

    tpr: float | None
    tnr: float | None
    accuracy: float
    kappa: float | None


def weighted_by_verdict(passed: Stratum, failed: Stratum) -> Weighted:
    """Rates of the pool from labels drawn by verdict. Unweighted, they are those of the sample, which are others."""
    good_passed, good_failed = (one.pool * one.good / max(1, one.labelled) for one in (passed, failed))
    bad_passed, bad_failed = passed.pool - good_passed, failed.pool - good_failed
    size, good = passed.pool + failed.pool, good_passed + good_failed
    accuracy = (good_passed + bad_failed) / size
    chance = (good * passed.pool + (size - good) * failed.pool) / size**2
    return Weighted(
        good_passed / good if good else None,
        bad_failed / (bad_passed + bad_failed) if bad_passed + bad_failed else None,
        accuracy,
        (accuracy - chance) / (1 - chance) if chance < 1 else None,
    )


class VarianceParts(NamedTuple):
    """The parts of the variance of `corrected`: sampling of the pool, of the good labels, of the bad labels."""

    pool: float
    good: float
    bad: float


def variance_parts(counts: Counts, passed: int, pool: int) -> VarianceParts:
    """The delta method's parts: a class whose part per label is larger is worth the next label."""
    _informative(counts)
    tpr, tnr, youden = counts.good_passed / counts.good, counts.bad_failed / counts.bad, counts.information
    q = passed / pool
    theta = (q + tnr - 1) / youden
    return VarianceParts(
        q * (1 - q) / pool / youden**2,
        theta**2 * tpr * (1 - tpr) / counts.good / youden**2,
        (1 - theta) ** 2 * tnr * (1 - tnr) / counts.bad / youden**2,
    )


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
