"""How far two sequences of labels agree: a judge and the gold, or two judges.

A label is anything hashable. An invalid answer is None: it is a separate label that no gold has, so it is counted and
is never right. A measure that the input does not determine (a constant side, one class) is None, never 0; nothing to
measure, or two lengths, raises ValueError.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

L = TypeVar("L", bound=Hashable)


def cohens_kappa(one: Sequence[Hashable], other: Sequence[Hashable]) -> float | None:
    """(p_o - p_e) / (1 - p_e): agreement over what two raters with these shares would reach by chance (Cohen, 1960);
    None where p_e = 1, since both always give one and the same label."""
    _check(one, other)
    counts, others, n = Counter(one), Counter(other), len(one)
    chance = sum(counts[label] * others[label] for label in counts)
    if chance == n * n:
        return None
    observed = sum(a == b for a, b in zip(one, other, strict=True))
    return (observed * n - chance) / (n * n - chance)


def class_accuracy(gold: Sequence[L], predicted: Sequence[Hashable]) -> dict[L, float]:
    """For each gold label, the share of its items that were given it: Acc.@A and Acc.@B of supplementary Table 16, the
    recall of each class. Labels in the order of their first occurrence in `gold`; one that is never gold is absent."""
    _check(gold, predicted)
    right = Counter(g for g, p in zip(gold, predicted, strict=True) if g == p)
    return {label: right[label] / count for label, count in Counter(gold).items()}


def balanced_accuracy(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> float | None:
    """The mean of `class_accuracy` over the gold classes: 1/K for every constant answer to K classes, however unequal
    they are. None with a single class, on which the constant answer would be perfect."""
    classes = class_accuracy(gold, predicted)
    return None if len(classes) < 2 else sum(classes.values()) / len(classes)


def matthews(gold: Sequence[Hashable], predicted: Sequence[Hashable]) -> float | None:
    """The Matthews correlation of two labellings, for any number of classes (Gorodkin, 2004, as R_K):

        (c·n - Σ t_k·p_k) / sqrt((n² - Σ t_k²)·(n² - Σ p_k²))

    with c right of n, and t_k, p_k the counts of class k in gold and predicted. None where either side is constant."""
    _check(gold, predicted)
    truth, named, n = Counter(gold), Counter(predicted), len(gold)
    right = sum(g == p for g, p in zip(gold, predicted, strict=True))
    spread = (n * n - sum(t * t for t in truth.values())) * (n * n - sum(p * p for p in named.values()))
    return (right * n - sum(truth[k] * named[k] for k in truth)) / math.sqrt(spread) if spread else None


def _check(one: Sequence[Hashable], other: Sequence[Hashable]) -> None:
    if len(one) != len(other) or not one:
        raise ValueError(f"{len(one)} and {len(other)} labels have no agreement")
