"""Agreement of two raters as functions of their contingency tables, for many tables at once, with intervals by
clusters.

A table counts items: rows are the labels of the first rater (the gold), columns those of the second (the judge). An
answer that is missing is a label of its own. Tables of clusters add up, so one bootstrap of cluster weights serves
every measure. Functions take tables of the shape [..., K, K] and return [...]; what a table does not determine is NaN.
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from judge_r1.statistics.intervals import BATCH, FEW_CLUSTERS, wilson_ci

L = TypeVar("L", bound=Hashable)
Floats = NDArray[np.float64]
Measure = Callable[[Floats], Floats]

DRAWS = 10_000
MOST_UNDEFINED = 0.05
"""An interval is None if a larger share of the draws has no value."""


def tables_by_cluster(one: Sequence[L], other: Sequence[L], clusters: Sequence[str], labels: Sequence[L]) -> Floats:
    """One table for each cluster, [G, K, K], clusters in the order of their names. Raises: ValueError."""
    if not len(one) == len(other) == len(clusters) or not one:
        raise ValueError(f"{len(one)} and {len(other)} labels in {len(clusters)} clusters have no agreement")
    place = {label: index for index, label in enumerate(labels)}
    row = {name: index for index, name in enumerate(sorted(set(clusters)))}
    tables = np.zeros((len(row), len(labels), len(labels)))
    for a, b, cluster in zip(one, other, clusters, strict=True):
        tables[row[cluster], place[a], place[b]] += 1
    return tables


def agreement(tables: Floats) -> Floats:
    """The share of equal labels."""
    return _ratio(np.trace(tables, axis1=-2, axis2=-1), tables.sum((-2, -1)))


def kappa(tables: Floats) -> Floats:
    """Cohen's (1960) kappa."""
    return weighted_kappa(tables, 1 - np.eye(tables.shape[-1]))


def weighted_kappa(tables: Floats, weights: Floats) -> Floats:
    """Cohen's (1968) kappa 1 - Σ w·o / Σ w·e, with `weights` of disagreement [K, K] and e the product of the margins.
    NaN where the margins alone allow no disagreement."""
    total = tables.sum((-2, -1), keepdims=True)
    expected = tables.sum(-1, keepdims=True) * tables.sum(-2, keepdims=True)
    return 1 - _ratio((weights * tables * total).sum((-2, -1)), (weights * expected).sum((-2, -1)))


def value_weights(values: Sequence[float], power: int) -> Floats:
    """Weights |v_i - v_j|^power of disagreement: 1 for linear kappa, 2 for quadratic kappa. They go by value, so a
    level of the scale that nobody used does not change them."""
    scale = np.array(values, dtype=np.float64)
    return np.asarray(np.abs(scale[:, None] - scale[None, :]) ** power)


def ac1(tables: Floats, scheme: int) -> Floats:
    """Gwet's (2008) AC1: (p_o - p_e) / (1 - p_e) with p_e = Σ π_k·(1 - π_k) / (q - 1), π_k the mean share of label k
    in both margins and q the number of labels of the scheme."""
    shares = (tables.sum(-1) + tables.sum(-2)) / (2 * tables.sum((-2, -1), keepdims=True)[..., 0])
    chance = (shares * (1 - shares)).sum(-1) / (scheme - 1)
    return np.asarray((agreement(tables) - chance) / (1 - chance))


def matthews_of(tables: Floats) -> Floats:
    """R_K of Gorodkin (2004), for two labels the Matthews correlation. NaN where a rater is constant."""
    n = tables.sum((-2, -1))
    rows, columns = tables.sum(-1), tables.sum(-2)
    spread = np.sqrt((n * n - (rows * rows).sum(-1)) * (n * n - (columns * columns).sum(-1)))
    return _ratio(np.trace(tables, axis1=-2, axis2=-1) * n - (rows * columns).sum(-1), spread)


def recalls(tables: Floats) -> Floats:
    """The share of the items of each gold label that the second rater gives it, too, [..., K]. NaN for a label that is
    never gold."""
    return _ratio(np.diagonal(tables, axis1=-2, axis2=-1), tables.sum(-1))


def balanced(tables: Floats) -> Floats:
    """The mean of the recalls. A constant answer to K classes scores 1/K, also for unequal classes. NaN for a single
    class, on which a constant answer would be perfect."""
    found = recalls(tables)
    classes = (~np.isnan(found)).sum(-1)
    return _ratio(np.nansum(found, axis=-1), np.where(classes > 1, classes, 0))


def resampled(tables: Floats, seed: int = 0) -> Floats | None:
    """The summed tables of 10,000 draws of the clusters with replacement, [draws, K, K]; None for a single cluster. The
    order of items and clusters does not matter."""
    count, *shape = tables.shape
    if count < 2:
        return None
    # Equal tables are drawn together: their number of draws is multinomial, too.
    kinds, counts = np.unique(tables.reshape(count, -1), axis=0, return_counts=True)
    generator, step = np.random.default_rng(seed), max(1, BATCH // len(kinds))
    sizes = [min(step, DRAWS - start) for start in range(0, DRAWS, step)]
    found = [generator.multinomial(count, counts / count, size=size) @ kinds for size in sizes]
    return np.concatenate(found).reshape(-1, *shape)


class Bootstrapped(NamedTuple):
    """A 95 % percentile interval, and the one-sided 95 % limits."""

    ci95: tuple[float, float]
    lower: float
    upper: float


def bootstrapped(draws: Floats | None, measure: Measure, clusters: int) -> Bootstrapped | None:
    """The interval of a measure over the `resampled` tables of so many clusters. Draws without a value are left out;
    None if they are more than 5 %, or without draws. Below 30 clusters G its percentiles are expanded to
    Φ(sqrt(G/(G - 1))·t), with t those of Student's t with G - 1 degrees of freedom (Hesterberg, 2015).

    If all labels agree, every draw does, and the interval would be [1, 1]. For measures that correct p_o by chance use
    `perfect_ci`.
    """
    if draws is None:
        return None
    from scipy.special import ndtr, stdtrit

    values = measure(draws)
    known = values[~np.isnan(values)]
    if len(known) < (1 - MOST_UNDEFINED) * len(values):
        return None
    levels = np.array([0.025, 0.05, 0.95, 0.975])
    if clusters < FEW_CLUSTERS:
        levels = ndtr(math.sqrt(clusters / (clusters - 1)) * stdtrit(clusters - 1, levels))
    low, lower, upper, high = (float(value) for value in np.quantile(known, levels))
    return Bootstrapped((low, high), lower, upper)


def perfect_ci(tables: Floats, measure: Measure) -> tuple[float, float] | None:
    """The interval of a chance-corrected measure that is 1 because all labels agree: [(w - p_e)/(1 - p_e), 1], with w
    the lower Wilson limit of as many right answers as clusters, and p_e the chance that the measure subtracts. None if
    the labels do not all agree, or do not vary."""
    whole = tables.sum(0)
    if agreement(whole) != 1 or np.isnan(measure(whole)):
        return None
    # The measure is linear in p_o for given margins, so its value at a table of the same margins by chance gives p_e.
    shares = np.diag(whole) / whole.sum()
    by_chance = float(measure(np.outer(shares, shares) * whole.sum()))
    at = float((shares * shares).sum())
    chance = 0.0 if by_chance == 1 else (at - by_chance) / (1 - by_chance)
    lower = wilson_ci(len(tables), len(tables))[0]
    return (lower - chance) / (1 - chance), 1.0


def _ratio(above: Floats, below: Floats) -> Floats:
    """above / below, NaN where that is 0 / 0 or x / 0."""
    below = np.asarray(below, dtype=np.float64)
    return np.asarray(np.divide(above, below, out=np.full(np.shape(below), np.nan), where=np.abs(below) > 1e-12))
