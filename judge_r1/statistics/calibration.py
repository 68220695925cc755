"""Does a confidence mean what it says? Of the answers given at .8, are four in five right?

A confidence is the probability, told by the judge, that its answer is right; `correct` says whether it was.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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
    told, right = checked(confidences, correct)
    if binning == "mass":
        n, ordered = len(told), np.sort(told)
        inner = [float(ordered[-(-part * n // bins) - 1]) for part in range(1, bins)]
        edges = np.array([ordered[0], *inner, ordered[-1]])
    else:
        edges = np.linspace(0, 1, bins + 1)
    at = np.searchsorted(edges[1:-1], told, side="left")
    found = []
    for number in range(bins):
        inside = at == number
        if inside.any():
            found.append(
                Bin(
                    low=float(edges[number]),
                    high=float(edges[number + 1]),
                    n=int(inside.sum()),
                    confidence=float(told[inside].mean()),
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
    told, right = checked(confidences, correct)
    return [float(value) for value in (told - right) ** 2]


def checked(confidences: Sequence[float], correct: Sequence[bool]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both as arrays; ValueError unless there is one `correct` for each confidence and those lie in [0, 1]."""
    if len(confidences) != len(correct) or not confidences:
        raise ValueError(f"{len(confidences)} confidence(s) of {len(correct)} answer(s) have no calibration")
    told = np.array(confidences, dtype=np.float64)
    if not ((told >= 0) & (told <= 1)).all():
        raise ValueError(f"{told[~((told >= 0) & (told <= 1))][0]} is not a confidence: it must lie in [0, 1]")
    return told, np.array(correct, dtype=np.float64)
