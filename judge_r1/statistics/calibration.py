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
    """The items with a confidence in (low, high], the lowest bin with `low` itself: how many, their mean confidence and
    the share that is right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def reliability(
    confidences: Sequence[float], correct: Sequence[bool], binning: Binning = "mass", bins: int = BINS
) -> list[Bin]:
    """The reliability table, empty bins absent.

    `mass` (the default) puts as many items into each bin, but equal confidences never into two, so that there may be
    fewer bins; `width` cuts [0, 1] into equal parts. Judges are sure of most answers: by width nearly all items fall
    into the last bin or two, where the over- and the under-confident cancel, and the others hold too few to say
    anything. Published values are mostly by width (Guo et al., 2017, with 15 bins).
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

    Chance alone moves the accuracy of a bin, so a perfectly calibrated judge has an ECE of about
    sqrt(2/π)·sqrt(bins·p(1 - p)/n) and not 0: compare only values of as many items and the same bins.
    """
    table = reliability(confidences, correct, binning, bins)
    return sum(b.n * abs(b.accuracy - b.confidence) for b in table) / len(confidences)


def brier(confidences: Sequence[float], correct: Sequence[bool]) -> float:
    """The mean of (confidence - [correct])² (Brier, 1950): 0 is best, .25 is what one half for every item gets. Proper:
    nothing but the true probability minimises it. It needs no bins, and its squares have a clustered interval."""
    return float(np.mean(squared_errors(confidences, correct)))


def squared_errors(confidences: Sequence[float], correct: Sequence[bool]) -> list[float]:
    """(confidence - [correct])² of each item, for `clustered_mean_ci`."""
    given, right = checked(confidences, correct)
    return [float(value) for value in (given - right) ** 2]


def checked(confidences: Sequence[float], correct: Sequence[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both as arrays; ValueError unless there is one `correct` for each confidence and those lie in [0, 1]."""
    if len(confidences) != len(correct) or not confidences:
        raise ValueError(f"{len(confidences)} confidence(s) of {len(correct)} answer(s) have no calibration")
    given = np.array(confidences, dtype=np.float64)
    if not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"{given[~((given >= 0) & (given <= 1))][0]} is not a confidence: it must lie in [0, 1]")
    return given, np.array(correct, dtype=np.float64)


EDGE = 1e-6
"""A confidence nearer than this to 0 or 1 has too large a logit to be scaled: it is taken as EDGE or 1 - EDGE."""
LOWEST, HIGHEST = 0.01, 100.0
"""The temperatures looked at."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Uncalibratable(JudgeError):
    """Confidences from which nothing can be fitted."""


class Temperature(Record):
    """c → σ(logit(c) / T): one number, which sharpens (T < 1) or softens (T > 1) and keeps every order.

    Fitted on `n` answers, of which `clipped` had a confidence within 1e-6 of 0 or 1. `at_bound`: T is an end of the
    range looked at, since the answers are all right or all wrong, or no likelier right where the confidence is higher.
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
    """The non-decreasing map with the least squared error: straight lines between the points (x, y), flat outside."""

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
    """Isotonic regression by pooling adjacent violators, equal confidences pooled first (Zadrozny and Elkan, 2002). It
    can bend anywhere, so it wants about a thousand answers; with fewer prefer the temperature."""
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
    """Each confidence as a map fitted on the other folds gives it. Clusters are dealt to the folds whole, so that no
    answer is judged by a map that has seen its case: what these score is what `fit` is worth on new cases."""
    names = sorted(set(clusters))
    if len(names) < 2:
        raise Uncalibratable("all answers are of one cluster: a map cannot be fitted on some cases and tried on others")
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[which]: number % folds for number, which in enumerate(order)}
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
