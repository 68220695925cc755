"""Calibration of confidences: reliability, ECE and Brier score, and maps that correct them (temperature, isotonic)."""

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Record

Binning = Literal["mass", "width"]
BINS = 10


class Bin(Record):
    """The items with a confidence in (low, high] (the lowest bin includes `low`): their number, mean confidence and
    accuracy."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def reliability(
    confidences: Sequence[float], correct: Sequence[bool], binning: Binning = "mass", bins: int = BINS
) -> list[Bin]:
    """The reliability table, without empty bins.

    `mass` (the default) puts the same number of items into each bin. Equal confidences share a bin, so there may be
    fewer bins. `width` cuts [0, 1] into equal parts. Most confidences of a judge are high, so by width nearly all items
    fall into the last one or two bins, where over- and under-confidence cancel, and the other bins hold too few items.
    Published values are mostly by width (Guo et al., 2017, with 15 bins).
    """
    given, right = checked(confidences, correct)
    if binning == "mass":
        n, ordered = len(given), np.sort(given)
        inner = [float(ordered[-(-part * n // bins) - 1]) for part in range(1, bins)]
        edges = np.array([ordered[0], *inner, ordered[-1]])
    else:
        edges = np.linspace(0, 1, bins + 1)
    at = np.searchsorted(edges[1:-1], given, side="left")
    found = []
    for number in range(bins):
        inside = at == number
        if inside.any():
            found.append(
                Bin(
                    low=float(edges[number]),
                    high=float(edges[number + 1]),
                    n=int(inside.sum()),
                    confidence=float(given[inside].mean()),
                    accuracy=float(right[inside].mean()),
                )
            )
    return found


def expected_calibration_error(
    confidences: Sequence[float], correct: Sequence[bool], binning: Binning = "mass", bins: int = BINS
) -> float:
    """ECE = Σ_b n_b/n · |accuracy_b - confidence_b| over the bins of `reliability` (Naeini et al., 2015).

    The accuracy of a bin varies by chance, so a perfectly calibrated judge has an ECE of about
    sqrt(2/π)·sqrt(bins·p(1 - p)/n), not 0. Compare only values of the same number of items and the same bins.
    """
    table = reliability(confidences, correct, binning, bins)
    return sum(b.n * abs(b.accuracy - b.confidence) for b in table) / len(confidences)


def brier(confidences: Sequence[float], correct: Sequence[bool]) -> float:
    """The Brier (1950) score, the mean of (confidence - [correct])²: 0 is best, and a constant confidence of one half
    scores .25. It is a proper score and needs no bins; its squares have a clustered interval."""
    return float(np.mean(squared_errors(confidences, correct)))


def squared_errors(confidences: Sequence[float], correct: Sequence[bool]) -> list[float]:
    """(confidence - [correct])² of each item, for `clustered_mean_ci`."""
    given, right = checked(confidences, correct)
    return [float(value) for value in (given - right) ** 2]


def checked(confidences: Sequence[float], correct: Sequence[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both as arrays.

    Raises:
        ValueError: The lengths differ or are 0, or a confidence is outside [0, 1].
    """
    if len(confidences) != len(correct) or not confidences:
        raise ValueError(f"{len(confidences)} confidence(s) of {len(correct)} answer(s) have no calibration")
    given = np.array(confidences, dtype=np.float64)
    if not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"{given[~((given >= 0) & (given <= 1))][0]} is not a confidence: it must lie in [0, 1]")
    return given, np.array(correct, dtype=np.float64)


EDGE = 1e-6
"""Confidences below EDGE or above 1 - EDGE are clipped, since their logits are too large to scale."""
LOWEST, HIGHEST = 0.01, 100.0
"""The range of temperatures that the fit searches."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Uncalibratable(JudgeError):
    """Confidences to which no map can be fitted."""


class Temperature(Record):
    """Temperature scaling c → σ(logit(c) / T): sharpens (T < 1) or softens (T > 1) and keeps the order.

    Fitted on `n` answers, of which `clipped` had a confidence within 1e-6 of 0 or 1. `at_bound` means that T is an end
    of the searched range: all answers are right or all are wrong, or accuracy does not grow with confidence.
    """

    schema_: Literal[1] = Field(1, alias="schema")
    kind: Literal["temperature"] = "temperature"
    temperature: float = Field(gt=0, allow_inf_nan=False)
    at_bound: bool
    clipped: int = Field(ge=0)
    n: int = Field(ge=1)

    def __call__(self, confidence: float) -> float:
        return _sigmoid(_logit(confidence) / self.temperature)


class Isotonic(Record):
    """The non-decreasing map with the least squared error: linear between the points (x, y) and constant outside."""

    schema_: Literal[1] = Field(1, alias="schema")
    kind: Literal["isotonic"] = "isotonic"
    x: tuple[Share, ...] = Field(min_length=1)
    y: tuple[Share, ...]
    n: int = Field(ge=1)

    @model_validator(mode="after")
    def _is_a_map(self) -> "Isotonic":
        if len(self.x) != len(self.y):
            raise ValueError(f"x has {len(self.x)} points and y {len(self.y)}")
        if any(a >= b for a, b in zip(self.x, self.x[1:], strict=False)):
            raise ValueError("x must increase from point to point")
        if any(a > b for a, b in zip(self.y, self.y[1:], strict=False)):
            raise ValueError("y must not decrease from point to point")
        return self

    def __call__(self, confidence: float) -> float:
        return float(np.interp(confidence, self.x, self.y))


Fit = Callable[[Sequence[float], Sequence[bool]], Temperature | Isotonic]


def fit_temperature(confidences: Sequence[float], correct: Sequence[bool]) -> Temperature:
    """The T with the highest likelihood of `correct` (Guo et al., 2017, in its two-class form): with z = logit(c), the
    log loss is convex in 1/T and stationary where Σ z·(σ(z/T) - [correct]) = 0.

    Raises:
        Uncalibratable: Every confidence is one half, which no temperature changes.
    """
    from scipy.optimize import brentq

    given, right = checked(confidences, correct)
    z = np.array([_logit(float(c)) for c in given])
    if not z.any():
        raise Uncalibratable("every confidence is one half: no temperature changes them")

    def slope(temperature: float) -> float:
        return float(z @ (0.5 * (1 + np.tanh(z / temperature / 2)) - right))

    if slope(LOWEST) <= 0:
        found, at_bound = LOWEST, True
    elif slope(HIGHEST) >= 0:
        found, at_bound = HIGHEST, True
    else:
        found, at_bound = float(brentq(slope, LOWEST, HIGHEST)), False
    clipped = int(((given < EDGE) | (given > 1 - EDGE)).sum())
    return Temperature(temperature=found, at_bound=at_bound, clipped=clipped, n=len(given))


def fit_isotonic(confidences: Sequence[float], correct: Sequence[bool]) -> Isotonic:
    """Isotonic regression; equal confidences are pooled first (Zadrozny and Elkan, 2002). It needs about a thousand
    answers; with fewer, prefer the temperature."""
    from scipy.optimize import isotonic_regression

    given, right = checked(confidences, correct)
    x, index, counts = np.unique(given, return_inverse=True, return_counts=True)
    fitted = isotonic_regression(np.bincount(index, weights=right) / counts, weights=counts)
    ends = sorted({*fitted.blocks[:-1].tolist(), *(fitted.blocks[1:] - 1).tolist()})  # first and last of each block
    y = np.clip(fitted.x[ends], 0, 1)
    return Isotonic(x=tuple(x[ends].tolist()), y=tuple(y.tolist()), n=len(given))


def cross_fitted(
    fit: Fit,
    confidences: Sequence[float],
    correct: Sequence[bool],
    clusters: Sequence[str],
    folds: int = 5,
    seed: int = 0,
) -> list[float]:
    """Each confidence, mapped by a map that was fitted on the other folds.

    Whole clusters are assigned to folds, so no answer is mapped by a map that was fitted on its case. The score of the
    result estimates the score of `fit` on new cases.
    """
    names = sorted(set(clusters))
    if len(names) < 2:
        raise Uncalibratable("all answers are of one cluster: cross-fitting needs at least two")
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[index]: number % folds for number, index in enumerate(order)}
    mapped = [0.0] * len(confidences)
    for fold in sorted(set(fold_of.values())):
        others = [i for i, cluster in enumerate(clusters) if fold_of[cluster] != fold]
        recalibrate = fit([confidences[i] for i in others], [correct[i] for i in others])
        for i, cluster in enumerate(clusters):
            if fold_of[cluster] == fold:
                mapped[i] = recalibrate(confidences[i])
    return mapped


def _logit(confidence: float) -> float:
    inside = min(1 - EDGE, max(EDGE, confidence))
    return math.log(inside / (1 - inside))


def _sigmoid(z: float) -> float:
    return 0.5 * (1 + math.tanh(z / 2))
