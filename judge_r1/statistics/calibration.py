"""Calibration of confidences: reliability table, ECE, Brier score, temperature scaling and isotonic regression.

`confidences` are probabilities in [0, 1] that an answer is correct, and `correct` says whether it is, in the same
order. All measures and fits raise ValueError if the lengths differ or are 0, or if a confidence is outside [0, 1].
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import Record
from judge_r1.core.text_check import counted

Binning = Literal["mass", "width"]
"""How bins are cut: equal mass (the same number of items in each) or equal width."""
BINS = 10


class Bin(Record):
    """One row of the reliability table: the items with a confidence in (low, high]. The lowest bin includes `low`.

    `n` is the number of items, `confidence` their mean confidence and `accuracy` the share that is correct.
    """

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


def reliability(
    confidences: Sequence[float], correct: Sequence[bool], binning: Binning = "mass", bins: int = BINS
) -> list[Bin]:
    """The reliability table, without empty bins.

    `mass` puts the same number of items into each bin. Equal confidences share a bin, so there may be fewer bins.
    `width` cuts [0, 1] into bins of equal width, as most published values do (Guo et al., 2017, with 15 bins).
    Most confidences of a judge are high. Equal-width bins therefore put nearly all items into the last one or two bins,
    where over- and under-confidence cancel out, and too few into the others.
    """
    y_prob, y_true = checked(confidences, correct)
    if binning == "mass":
        n, ordered = len(y_prob), np.sort(y_prob)
        inner = [float(ordered[-(-part * n // bins) - 1]) for part in range(1, bins)]
        edges = np.array([ordered[0], *inner, ordered[-1]])
    else:
        edges = np.linspace(0, 1, bins + 1)
    bin_index = np.searchsorted(edges[1:-1], y_prob, side="left")
    found = []
    for index in np.unique(bin_index):  # an empty bin has no mean
        inside = bin_index == index
        found.append(
            Bin(
                low=float(edges[index]),
                high=float(edges[index + 1]),
                n=int(inside.sum()),
                confidence=float(y_prob[inside].mean()),
                accuracy=float(y_true[inside].mean()),
            )
        )
    return found


def expected_calibration_error(
    confidences: Sequence[float], correct: Sequence[bool], binning: Binning = "mass", bins: int = BINS
) -> float:
    """The expected calibration error: Σ_b n_b/n · |accuracy_b - confidence_b| over the bins (Naeini et al., 2015).

    The accuracy of a bin varies by chance, so the ECE of a perfectly calibrated judge is not 0. It is about
    sqrt(2/π)·sqrt(bins·p(1 - p)/n) if p is the accuracy in every bin. Compare values only for the same
    number of items and the same bins.
    """
    table = reliability(confidences, correct, binning, bins)
    return sum(b.n * abs(b.accuracy - b.confidence) for b in table) / len(confidences)


def brier(confidences: Sequence[float], correct: Sequence[bool]) -> float:
    """The Brier score (1950): the mean of (confidence - [correct])².

    0 is best; a constant confidence of 0.5 scores 0.25. It is a proper scoring rule and needs no bins. For a clustered
    confidence interval, pass `squared_errors` to `clustered_mean_ci`.
    """
    return float(np.mean(squared_errors(confidences, correct)))


def squared_errors(confidences: Sequence[float], correct: Sequence[bool]) -> list[float]:
    """(confidence - [correct])² of each item."""
    y_prob, y_true = checked(confidences, correct)
    return [float(value) for value in (y_prob - y_true) ** 2]


def checked(confidences: Sequence[float], correct: Sequence[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Validates confidences and returns both arguments as float arrays of shape [n].

    Raises:
        ValueError: The lengths differ or are 0, or a confidence is outside [0, 1].
    """
    if len(confidences) != len(correct) or not confidences:
        raise ValueError(
            f"{counted(len(confidences), 'confidence')} for {counted(len(correct), 'answer')}: calibration needs one "
            "confidence per answer, and at least one answer"
        )
    y_prob = np.array(confidences, dtype=np.float64)
    valid = (y_prob >= 0) & (y_prob <= 1)
    if not valid.all():
        raise ValueError(f"{y_prob[~valid][0]} is not a confidence: it must lie in [0, 1]")
    return y_prob, np.array(correct, dtype=np.float64)


EDGE = 1e-6
"""Confidences are clipped to [EDGE, 1 - EDGE], because the logits of 0 and 1 are infinite."""
LOWEST, HIGHEST = 0.01, 100.0
"""The range in which `fit_temperature` searches."""
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Uncalibratable(JudgeError):
    """No calibration map can be fitted to these confidences."""


class Temperature(Record):
    """Temperature scaling c → σ(logit(c) / T). T < 1 sharpens and T > 1 softens; the order stays the same.

    `n` is the number of answers of the fit, and `clipped` how many of them had a confidence within EDGE of 0 or 1.
    `at_bound` means that T is a bound of the search range. This happens if all answers are right, if all are wrong, or
    if accuracy does not increase with confidence.
    """

    schema_: Literal[1] = Field(1, alias="schema")
    kind: Literal["temperature"] = "temperature"
    temperature: float = Field(gt=0, allow_inf_nan=False)
    at_bound: bool
    clipped: int = Field(ge=0)
    n: int = Field(ge=1)

    def __call__(self, confidence: float) -> float:
        from scipy.special import expit, logit

        return float(expit(logit(min(1 - EDGE, max(EDGE, confidence))) / self.temperature))


class Isotonic(Record):
    """Isotonic regression: a non-decreasing map, linear between the points (x, y) and constant outside them.

    `n` is the number of answers of the fit.
    """

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
"""Fits a map to confidences and whether each answer is correct: `fit_temperature` or `fit_isotonic`."""


def fit_temperature(confidences: Sequence[float], correct: Sequence[bool]) -> Temperature:
    """Fits T by maximum likelihood: temperature scaling for two classes (Guo et al., 2017).

    With z = logit(c), the log loss is convex in 1/T. Its minimum is where Σ z·(σ(z/T) - [correct]) = 0.

    Raises:
        Uncalibratable: Every confidence is 0.5, which no temperature changes.
    """
    from scipy.optimize import brentq
    from scipy.special import expit, logit

    y_prob, y_true = checked(confidences, correct)
    z = logit(np.clip(y_prob, EDGE, 1 - EDGE))
    if not z.any():
        raise Uncalibratable("every confidence is one half: no temperature changes them")

    def slope(t: float) -> float:
        """The derivative of the log loss with respect to 1/T, at T = t. It decreases as t grows."""
        return float(z @ (expit(z / t) - y_true))

    if slope(LOWEST) <= 0:
        temperature, at_bound = LOWEST, True
    elif slope(HIGHEST) >= 0:
        temperature, at_bound = HIGHEST, True
    else:
        temperature, at_bound = float(brentq(slope, LOWEST, HIGHEST)), False
    clipped = int(((y_prob < EDGE) | (y_prob > 1 - EDGE)).sum())
    return Temperature(temperature=temperature, at_bound=at_bound, clipped=clipped, n=len(y_prob))


def fit_isotonic(confidences: Sequence[float], correct: Sequence[bool]) -> Isotonic:
    """Fits an isotonic regression (Zadrozny and Elkan, 2002). Equal confidences are pooled first.

    It needs about a thousand answers. With fewer, prefer `fit_temperature`.
    """
    from scipy.optimize import isotonic_regression

    y_prob, y_true = checked(confidences, correct)
    x, index, counts = np.unique(y_prob, return_inverse=True, return_counts=True)
    fitted = isotonic_regression(np.bincount(index, weights=y_true) / counts, weights=counts)
    # The map is constant within a block, so the first and the last point of each block define it.
    ends = sorted({*fitted.blocks[:-1].tolist(), *(fitted.blocks[1:] - 1).tolist()})
    y = np.clip(fitted.x[ends], 0, 1)
    return Isotonic(x=tuple(x[ends].tolist()), y=tuple(y.tolist()), n=len(y_prob))


def cross_fitted(
    fit: Fit,
    confidences: Sequence[float],
    correct: Sequence[bool],
    clusters: Sequence[str],
    folds: int = 5,
    seed: int = 0,
) -> list[float]:
    """Recalibrates each confidence with a map that was fitted on the other folds (cross-validation).

    Whole clusters are assigned to folds, so no map is applied to a case that it was fitted on. A metric of the result
    therefore estimates that metric for `fit` on new cases.

    Raises:
        Uncalibratable: There are fewer than two clusters, or `fit` raises it for a fold.
    """
    names = sorted(set(clusters))
    if len(names) < 2:
        raise Uncalibratable("all answers are of one cluster: cross-fitting needs at least two")
    # From the sorted names, so that the folds do not depend on the order of the answers.
    order = np.random.default_rng(seed).permutation(len(names))
    fold_of = {names[index]: position % folds for position, index in enumerate(order)}
    maps = {}
    for fold in sorted(set(fold_of.values())):
        others = [i for i, cluster in enumerate(clusters) if fold_of[cluster] != fold]
        maps[fold] = fit([confidences[i] for i in others], [correct[i] for i in others])
    return [maps[fold_of[cluster]](value) for value, cluster in zip(confidences, clusters, strict=True)]
