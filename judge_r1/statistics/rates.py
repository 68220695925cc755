"""One-sided limits of rates, the labels that a decision needs, and the interval of a paired difference."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from judge_r1.statistics.intervals import Z, by_cluster

LEVEL = 0.95


class Limits(NamedTuple):
    """The one-sided 95 % lower and upper limit of a rate."""

    lower: float
    upper: float


def exact_limits(successes: int, trials: int) -> Limits:
    """The one-sided Clopper-Pearson limits of a rate of independent trials. Raises: ValueError without trials."""
    if not 0 <= successes <= trials or trials < 1:
        raise ValueError(f"{successes} of {trials} is not a rate")
    from scipy.special import betaincinv

    lower = float(betaincinv(successes, trials - successes + 1, 1 - LEVEL)) if successes else 0.0
    upper = float(betaincinv(successes + 1, trials - successes, LEVEL)) if successes < trials else 1.0
    return Limits(lower, upper)


def rate_limits(right: Sequence[bool], clusters: Sequence[str]) -> Limits:
    """The one-sided limits of a rate over clusters that are independent.

    If every trial is a cluster of its own, they are exact. Else the error is cluster-robust on the logit scale, with
    Student's t (as for `clustered_mean_ci`). If all clusters have the same rate r, the limits are those of as many
    trials as clusters: at most a share q of the clusters differs, which gives [r - q·r, r + q·(1 - r)].
    """
    from scipy.special import expit, logit, stdtrit

    parts = list(by_cluster([float(value) for value in right], clusters))
    n, k = len(right), sum(right)
    if len(parts) == n:
        return exact_limits(k, n)
    rate, count = k / n, len(parts)
    if len({sum(part) / len(part) for part in parts}) == 1:
        differing = exact_limits(0, count).upper if count > 1 or k in (0, n) else 1.0
        return Limits(rate - differing * rate, rate + differing * (1 - rate))
    influence = [(sum(part) - rate * len(part)) / n for part in parts]
    error = math.sqrt(count / (count - 1) * math.fsum(value * value for value in influence))
    reach = float(stdtrit(count - 1, LEVEL)) * error / (rate * (1 - rate))
    return Limits(float(expit(logit(rate) - reach)), float(expit(logit(rate) + reach)))


def labels_needed(rate: float, least: float, most: int = 5_000) -> int | None:
    """The number of labels of a class from which on the exact lower limit stays at or above `least` if the share `rate`
    of them, rounded down, is right. None if `rate` does not exceed `least`, or if `most` labels are not enough."""
    if rate <= least:
        return None
    needed = None
    for n in range(most, 0, -1):
        if exact_limits(math.floor(rate * n + 1e-9), n).lower < least:
            break
        needed = n
    return needed


def tango_ci(worse: int, better: int, pairs: int) -> tuple[float, float]:
    """Tango's (1998) 95 % score interval of the difference (better - worse) / pairs of two paired rates, in which
    `worse` pairs turned from right to wrong and `better` from wrong to right."""
    if min(worse, better) < 0 or worse + better > pairs or pairs < 1:
        raise ValueError(f"{worse} and {better} of {pairs} pairs is no paired comparison")
    from scipy.optimize import brentq

    def statistic(difference: float) -> float:
        # the constrained estimate of the rate of `better` under this difference
        a, b, c = (
            2 * pairs,
            -better - worse + (2 * pairs - better + worse) * difference,
            -worse * difference * (1 - difference),
        )
        q = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
        variance = pairs * (2 * q + difference * (1 - difference))
        gap = better - worse - pairs * difference
        return math.copysign(math.inf, gap) if variance <= 0 and gap else gap / math.sqrt(variance) if gap else 0.0

    middle, edge = (better - worse) / pairs, 1 - 1e-12
    low = -1.0 if statistic(-edge) < Z else float(brentq(lambda d: statistic(d) - Z, -edge, middle))
    high = 1.0 if statistic(edge) > -Z else float(brentq(lambda d: statistic(d) + Z, middle, edge))
    return low, high


def smallest_drop(pairs: int, alpha: float, better: float = 0.02, power: float = 0.8) -> float | None:
    """The smallest drop of a paired rate, in steps of .01, that the one-sided sign test at level `alpha` shows in a
    share `power` of runs with so many independent pairs, if a share `better` of them turns right by chance and as many
    more turn wrong as the drop needs. None if no drop does."""
    import numpy as np
    from scipy.special import bdtr, bdtrc

    changed = np.arange(pairs + 1)
    # The fewest wrong turns among so many changed pairs whose p is below alpha; one more than there are if none is.
    least = np.array([next((k for k in range(n // 2, n + 1) if bdtrc(k - 1, n, 0.5) < alpha), n + 1) for n in changed])
    for percent in range(1, int(100 * (1 - 2 * better)) + 1):
        worse = better + percent / 100
        share = worse + better
        weights = bdtr(changed, pairs, share) - np.where(changed > 0, bdtr(changed - 1, pairs, share), 0)
        shown = np.where(least > changed, 0.0, np.where(least > 0, bdtrc(least - 1, changed, worse / share), 1.0))
        if float((weights * shown).sum()) >= power:
            return percent / 100
    return None
