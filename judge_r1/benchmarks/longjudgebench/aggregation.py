"""Combines the votes on a query into one verdict with a score; also the arithmetic of the released scorer."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations
from math import comb

from judge_r1.benchmarks.aggregation import all_invalid, majority_vote
from judge_r1.benchmarks.base import Order
from judge_r1.benchmarks.longjudgebench.query import LETTERS, Query, shown_places
from judge_r1.core.items import AggregatedVerdict, Item, ItemResult, Vote
from judge_r1.core.records import ChecklistVerdict, InvalidVerdict, PairwiseVerdict, ScoresVerdict, Verdict
from judge_r1.statistics.correlation import pair_accuracy

UNDECIDED = "undecided"
"""As many games of one order say one thing as another."""


def aggregate(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
    """Of scored outputs, the share of the pairs that the gold orders and the scores order alike (Eq. 6 within a query;
    a tie is wrong, as is a pair with a score missing). Of a label, the share of the orders in which it is right."""
    if not isinstance(item.gold, str):
        return _settle_scores(item, games)
    labels = labels_by_order(item.gold in ("Yes", "No"), games)
    credit = sum(label == item.gold for label in labels.values()) / len(labels)
    invalid = all_invalid(games)
    if invalid is not None:
        return AggregatedVerdict(verdict=invalid, score=0.0)
    if item.gold not in ("Yes", "No"):
        return AggregatedVerdict(verdict=majority_vote(item, games).verdict, score=credit)
    votes = Counter(labels.values())
    verdict: Verdict = ScoresVerdict(scores=(float(votes["Yes"] > votes["No"]),))
    return AggregatedVerdict(
        verdict=InvalidVerdict(reason=UNDECIDED) if votes["Yes"] == votes["No"] else verdict, score=credit
    )


def _settle_scores(item: Item, games: Sequence[Vote]) -> AggregatedVerdict:
    places = item.gold["judged"]
    scores = scores_of(games, len(item.candidates))
    predicted = [scores[place] for place in places]
    strict = pair_accuracy([item.gold["scores"][place] for place in places], predicted).strict
    assert strict is not None, "queries whose gold orders nothing are left out when they are read"
    given = [score for score in predicted if score is not None]
    if len(given) == len(predicted):
        return AggregatedVerdict(verdict=ScoresVerdict(scores=tuple(given)), score=strict)
    reasons = [game.verdict.reason for game in games if isinstance(game.verdict, InvalidVerdict)]
    return AggregatedVerdict(verdict=InvalidVerdict(reason=reasons[0] if reasons else "missing_field"), score=strict)


def scores_of(games: Sequence[Vote], count: int) -> list[float | None]:
    """Of each output the mean of its scores, or of games of two its wins a game, half for a tie; None without any."""
    given: list[list[float]] = [[] for _ in range(count)]
    for game in games:
        for place, score in _scores(game):
            given[place].append(score)
    return [sum(scores) / len(scores) if scores else None for scores in given]


def _scores(game: Vote) -> list[tuple[int, float]]:
    verdict = game.verdict
    if isinstance(verdict, ScoresVerdict):
        return list(zip(shown_places(game.order, len(verdict.scores)), verdict.scores, strict=True))
    if isinstance(verdict, ChecklistVerdict):
        return [(game.order[LETTERS.index(letter)], score) for letter, score in verdict.scores.items()]
    if isinstance(verdict, PairwiseVerdict):
        return [(place, 0.5 if verdict.winner == "tie" else float(place == game.winner)) for place in game.order]
    return []


def labels_by_order(binary: bool, games: Sequence[Vote]) -> dict[Order, str | None]:
    """What the games of each order say in terms of the item: the majority over judges and samples; None where there is
    none, or nothing valid."""
    votes: dict[Order, Counter[str]] = defaultdict(Counter)
    for game in games:
        label = _label(game, binary)
        votes[game.order].update([label] if label else [])
    return {order: _most(counted) for order, counted in votes.items()}


def _label(game: Vote, binary: bool) -> str | None:
    verdict = game.verdict
    if isinstance(verdict, ScoresVerdict):
        return "Yes" if verdict.scores[0] >= 0.5 else "No"
    if not isinstance(verdict, PairwiseVerdict):
        return None
    if game.winner is None:
        return None if binary else "tie"
    return ("Yes", "No")[game.winner] if binary else "AB"[game.winner]


def _most(votes: Counter[str]) -> str | None:
    ranked = votes.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


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
