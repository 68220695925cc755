"""The released scorer's arithmetic, faults included: for comparison with published numbers, never for a headline."""

from collections.abc import Sequence
from itertools import combinations
from math import comb

from judge_r1.benchmarks.longjudgebench.aggregation import labels_by_order, scores_of
from judge_r1.benchmarks.longjudgebench.subset import Query
from judge_r1.core.items import ItemResult
from judge_r1.core.records import InvalidVerdict


def released_counts(gold: Sequence[float], predicted: Sequence[float]) -> tuple[int, int]:
    """(right, all) of the pairs of a query: one that the gold ties is in the denominator and wrong, unless it is
    predicted as a tie too; then it adds 1 above and 2 below."""
    right = total = 0
    for (g, p), (h, q) in combinations(zip(gold, predicted, strict=True), 2):
        total += 1
        if g == h and p == q:
            right, total = right + 1, total + 1
        elif g != h and p != q:
            right += (g > h) == (p > q)
    return right, total


def released_accuracy(query: Query, outcomes: Sequence[ItemResult]) -> float | None:
    """All pairs of a set at once (`query` is one of its queries). A missing score makes its pairs wrong, where a
    listing counts as if it had three outputs; a missing label is left out of the denominator; None with nothing left.
    """
    counts = [_counts(query, outcome) for outcome in outcomes]
    right, total = (sum(column) for column in zip(*counts, strict=True))
    return right / total if total else None


def _counts(query: Query, outcome: ItemResult) -> tuple[int, int]:
    gold = outcome.gold
    if isinstance(gold, str):
        valid = [game for game in outcome.votes if not isinstance(game.verdict, InvalidVerdict)]
        labels = labels_by_order(gold in ("Yes", "No"), valid).values()
        return sum(label == gold for label in labels), len(labels)
    scores = scores_of(outcome.votes, len(gold["scores"]))
    pairs = [(gold["scores"][place], score) for place in gold["judged"] if (score := scores[place]) is not None]
    right, total = released_counts([g for g, _ in pairs], [p for _, p in pairs])
    expected = 3 if query.dataset == "surge" else len(gold["judged"])
    return right, total + max(0, comb(expected, 2) - comb(len(pairs), 2))
