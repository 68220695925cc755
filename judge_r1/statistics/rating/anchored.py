"""Rates one judge on items whose difficulty is fixed, so that a new checkpoint joins an existing scale."""

import math
from dataclasses import dataclass

import numpy as np

from judge_r1.statistics.rating.bradley_terry import CENTRE, ELO
from judge_r1.statistics.rating.information import logistic
from judge_r1.statistics.rating.votes import Floats, Ints, sums


@dataclass(frozen=True)
class AnchoredRating:
    """A rating in Elo and its standard error, which treats the difficulties as known. A judge that is right on all
    items, or on none, has a rating of ±inf and no error."""

    elo: float
    se: float | None


def anchored_rating(difficulty: Floats, points: Floats, clusters: Ints | None = None) -> AnchoredRating:
    """The β that solves Σ c_q = Σ σ(β - β_q), by bisection; SE = √(Σ r²) / Σ w with the residuals r summed by cluster
    and w = σ(1 - σ). `difficulty` holds the Elo of the item of each vote.

    Raises:
        ValueError: There are no votes.
    """
    if not len(points):
        raise ValueError("the judge has no vote on an item of the scale")
    beta = (difficulty - CENTRE) / ELO
    total = float(points.sum())
    if total in (0.0, float(len(points))):
        return AnchoredRating(math.inf if total else -math.inf, None)
    low, high = float(beta.min()) - 50, float(beta.max()) + 50
    while high - low > 1e-12 * max(1.0, abs(low), abs(high)):
        middle = (low + high) / 2
        # No float lies between the bounds.
        if middle in (low, high):
            break
        low, high = (low, middle) if logistic(middle - beta).sum() > total else (middle, high)
    chance = logistic((low + high) / 2 - beta)
    residual = points - chance
    if clusters is not None:
        residual = sums(np.unique(clusters, return_inverse=True)[1], residual)
    error = math.sqrt(float(residual @ residual)) / float((chance * (1 - chance)).sum())
    return AnchoredRating(CENTRE + ELO * (low + high) / 2, ELO * error)
