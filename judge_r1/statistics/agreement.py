"""Agreement of two sequences of labels: a judge and the gold, or two judges.

A label is any hashable value. An invalid answer is None: a separate label that no gold has, so it counts as wrong. A
measure that the input does not determine (a constant side, one class) is None, not 0. Empty input and unequal lengths
raise ValueError.
"""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import TypeVar

from judge_r1.statistics.correlation import pearson

L = TypeVar("L", bound=Hashable)


def cohens_kappa(one: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    """Cohen's (1960) kappa (p_o - p_e) / (1 - p_e): the agreement beyond chance. None if p_e = 1: both raters give the
    same label to every item."""
    _check(one, other)
    counts, others, n = Counter(one), Counter(other), len(one)
    chance = sum(counts[label] * others[label] for label in counts)
    if chance == n * n:
        return None
    observed = sum(a == b for a, b in zip(one, other, strict=True))
    return (observed * n - chance) / (n * n - chance)


def class_accuracy(gold: Sequence[L], predicted: Sequence[Hashable]) -> dict[L, float]:
    """The recall of each gold label: Acc.@A and Acc.@B of supplementary Table 16.

    The labels are in the order of their first occurrence in `gold`; a label that is never gold is absent."""
    _check(gold, predicted)
    right = Counter(g for g, p in zip(gold, predicted, strict=True) if g == p)
    return {label: right[label] / count for label, count in Counter(gold).items()}


def balanced_accuracy(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> float | None:
    """The mean of `class_accuracy` over the gold classes. A constant answer to K classes scores 1/K, also for unequal
    classes. None for a single class, on which a constant answer would be perfect."""
    classes = class_accuracy(gold, predicted)
    return None if len(classes) < 2 else sum(classes.values()) / len(classes)


def matthews(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> float | None:
    """The Matthews correlation of two labellings, for any number of classes (Gorodkin, 2004, as R_K):

        (c·n - Σ t_k·p_k) / sqrt((n² - Σ t_k²)·(n² - Σ p_k²))

    with c the number of right answers of n, and t_k, p_k the counts of class k in gold and predicted. None if either
    side is constant."""
    _check(gold, predicted)
    truth, named, n = Counter(gold), Counter(predicted), len(gold)
    right = sum(g == p for g, p in zip(gold, predicted, strict=True))
    spread = (n * n - sum(t * t for t in truth.values())) * (n * n - sum(p * p for p in named.values()))
    return (right * n - sum(truth[k] * named[k] for k in truth)) / math.sqrt(spread) if spread else None


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


def _check(one: Sequence[Hashable], other: Sequence[Hashable]) -> None:
    if len(one) != len(other) or not one:
        raise ValueError(f"{len(one)} and {len(other)} labels have no agreement")
