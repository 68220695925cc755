"""Agreement of two sequences of labels: a judge and the gold, or two judges.

A label is any hashable value. An invalid answer is None: a separate label that no gold has, so it counts as wrong. A
measure that the input does not determine (a constant side, one class) is None, not 0. Empty input and unequal lengths
raise ValueError.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import TypeVar

from judge_r1.statistics.contingency import Measure, balanced, kappa, matthews_of, tables_by_cluster
from judge_r1.statistics.correlation import pearson

L = TypeVar("L", bound=Hashable)


def cohens_kappa(one: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    """Cohen's (1960) kappa. None if both raters give the same label to every item."""
    return _of_table(kappa, one, other)


def balanced_accuracy(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> float | None:
    """The mean of the recalls of the gold classes (`contingency.balanced`). None for a single class."""
    return _of_table(balanced, gold, predicted)


def matthews(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> float | None:
    """The Matthews correlation of two labellings, for any number of classes. None if either side is constant."""
    return _of_table(matthews_of, gold, predicted)


def agreement_of_people(
    answers: Mapping[str, Mapping[L, float]], fewest: int = 3
) -> dict[str, dict[str, float | int | None]]:
    """Of each two people with at least `fewest` shared texts: Pearson's r, the share of equal answers, Cohen's kappa.
    `answers` maps a person to the answer about each text."""
    found: dict[str, dict[str, float | int | None]] = {}
    for first, second in combinations(sorted(answers), 2):
        shared = [key for key in answers[first] if key in answers[second]]
        if len(shared) >= fewest:
            one, other = ([answers[name][key] for key in shared] for name in (first, second))
            equal = fmean(a == b for a, b in zip(one, other, strict=True))
            found[f"{first} - {second}"] = {
                "pearson": pearson(one, other), "equal": equal, "kappa": cohens_kappa(one, other), "n": len(shared)
            }  # fmt: skip
    return found


def _of_table(measure: Measure, one: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    labels = list(dict.fromkeys([*one, *other]))
    (table,) = tables_by_cluster(one, other, [""] * len(one), labels)
    value = float(measure(table))
    return None if math.isnan(value) else value
