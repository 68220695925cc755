"""Combines the votes on a query into one verdict with a score, and computes the released scorer's counts."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

from judge_r1.benchmarks.aggregation import all_invalid, candidate_scores, majority, majority_vote, mean_or_none
from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench.query import LETTERS, Query
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.verdicts import ChecklistVerdict, InvalidVerdict, PairwiseVerdict, ScoresVerdict, Verdict

UNDECIDED = "undecided"
"""The reason of an invalid verdict: as many orders give Yes as No."""


def aggregate(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    """Scores: the share of the pairs ordered by the gold that the scores order the same way (Eq. 6 within a query; a
    tie or a missing score is wrong). Labels: the share of the presentation orders with the correct label."""
    if not isinstance(item.gold, str):
        return _aggregate_scores(item, votes)
    binary = item.gold in ("Yes", "No")
    labels = list(labels_by_order(votes, binary=binary).values())
    score = labels.count(item.gold) / len(labels)
    verdict: Verdict
    if invalid := all_invalid(votes):
        return AggregatedVerdict(verdict=invalid, score=0.0)
    if not binary:
        verdict = majority_vote(item, votes).verdict
    elif (yes := labels.count("Yes")) == (no := labels.count("No")):
        verdict = InvalidVerdict(reason=UNDECIDED)
    else:
        verdict = ScoresVerdict(scores=(float(yes > no),))
    return AggregatedVerdict(verdict=verdict, score=score)


def ordered_by_gold(gold: Any) -> bool:
    """Whether the gold orders the outputs: Eq. 6 leaves out pairs that it calls a tie."""
    return bool(gold != "tie")


def _aggregate_scores(item: Item, votes: Sequence[Vote]) -> AggregatedVerdict:
    from judge_r1.statistics.correlation import pair_accuracy

    indices, scores = item.gold["judged"], scores_of(votes, len(item.candidates))
    predicted = [scores[index] for index in indices]
    strict = pair_accuracy([item.gold["scores"][index] for index in indices], predicted).strict
    assert strict is not None, "queries whose gold orders no pair are dropped by the reader"
    given = [score for score in predicted if score is not None]
    if len(given) == len(predicted):
        return AggregatedVerdict(verdict=ScoresVerdict(scores=tuple(given)), score=strict)
    reasons = [vote.verdict.reason for vote in votes if isinstance(vote.verdict, InvalidVerdict)]
    return AggregatedVerdict(verdict=InvalidVerdict(reason=reasons[0] if reasons else "missing_field"), score=strict)


def scores_of(votes: Sequence[Vote], count: int) -> list[float | None]:
    """The mean score of each output, or for pairwise votes its mean of 1, 0.5 or 0 for a win, tie or loss. None for an
    output without votes."""
    given: list[list[float]] = [[] for _ in range(count)]
    for vote in votes:
        for index, score in _scores(vote):
            given[index].append(score)
    return [mean_or_none(scores) for scores in given]


def _scores(vote: Vote) -> list[tuple[int, float]]:
    verdict = vote.verdict
    if isinstance(verdict, ScoresVerdict):  # a reference comes first and has no score
        return list(zip(vote.order[-len(verdict.scores) :], verdict.scores, strict=True))
    if isinstance(verdict, ChecklistVerdict):
        return [(vote.order[LETTERS.index(letter)], score) for letter, score in verdict.scores.items()]
    return candidate_scores(vote)


def labels_by_order(votes: Sequence[Vote], *, binary: bool) -> dict[Order, str | None]:
    """The majority label per presentation order, over judges and samples, in terms of the item's outputs: A, B or tie,
    or if `binary` Yes or No. None without a majority or a valid vote."""
    counts: dict[Order, Counter[str]] = defaultdict(Counter)
    for vote in votes:
        label = _label(vote, binary=binary)
        counts[vote.order].update([label] if label else [])
    return {order: majority(labels) for order, labels in counts.items()}


def _label(vote: Vote, *, binary: bool) -> str | None:
    verdict = vote.verdict
    if isinstance(verdict, ScoresVerdict):
        return "Yes" if verdict.scores[0] >= 0.5 else "No"
    if not isinstance(verdict, PairwiseVerdict):
        return None
    if vote.winner is None:
        return None if binary else "tie"
    return ("Yes", "No")[vote.winner] if binary else "AB"[vote.winner]


def released_counts(gold: Sequence[float], predicted: Sequence[float]) -> tuple[int, int]:
    """(correct, total) pairs of a query as the released script counts them: a pair tied in the gold counts as wrong,
    unless the prediction ties it too; then it adds 1 to correct and 2 to total."""
    correct = total = 0
    for (g, p), (h, q) in combinations(zip(gold, predicted, strict=True), 2):
        total += 1
        if g == h and p == q:
            correct, total = correct + 1, total + 1
        elif g != h and p != q:
            correct += (g > h) == (p > q)
    return correct, total


def released_accuracy(query: Query, results: Sequence[ItemResult]) -> float | None:
    """The released accuracy: pools all pairs of a data set (`query` is one of its queries). A missing score makes its
    pairs wrong; a listing counts as three outputs. Invalid labels are dropped. None if no pair remains."""
    counts = [_counts(query, result) for result in results]
    correct, total = (sum(column) for column in zip(*counts, strict=True))
    return correct / total if total else None


def _counts(query: Query, result: ItemResult) -> tuple[int, int]:
    gold = result.gold
    if isinstance(gold, str):
        valid = [vote for vote in result.votes if not isinstance(vote.verdict, InvalidVerdict)]
        labels = list(labels_by_order(valid, binary=gold in ("Yes", "No")).values())
        return labels.count(gold), len(labels)
    scores = scores_of(result.votes, len(gold["scores"]))
    pairs = [(gold["scores"][index], score) for index in gold["judged"] if (score := scores[index]) is not None]
    correct, total = released_counts([g for g, _ in pairs], [p for _, p in pairs])
    expected = 3 if query.protocol == "listwise" else len(gold["judged"])
    return correct, total + max(0, comb(expected, 2) - comb(len(pairs), 2))
