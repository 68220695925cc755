"""How sure a row was of an item's verdict, by three methods; `judge-r1 calibrate` asks.

token     mean over the item's games of the probability of the verdict, by each game's decision token: c where the game
          has it, 1 - c where it has the other candidate (`judge_r1.episode.confidence`)
orders    agreement of the two orders: the majority in each order is a vote, and the confidence the share of votes for
          the verdict (JudgeBench's two games: 1 where they agree, 1/2 where they do not)
samples   agreement of samples or members: the share of all games that are for the verdict

A game that is a tie or invalid counts half for either side; of a tie no more can be said than 1/2. All three are None
where there is no verdict (an invalid item), where an item is no pair, and where the row has nothing to compare: no
known probabilities, one order, one game an order.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Literal

from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.records import PairwiseVerdict
from judge_r1.evaluation.calibrate import ConfidenceRow

Method = Literal["token", "orders", "samples"]
METHODS: tuple[Method, ...] = ("token", "orders", "samples")


def confidence(outcome: ItemResult, method: Method) -> float | None:
    """Between 0 and 1; below 1/2 where most of what is known is against the verdict."""
    if not isinstance(outcome.verdict, PairwiseVerdict) or any(set(game.order) != {0, 1} for game in outcome.votes):
        return None
    side = {"A": 0, "B": 1, "tie": None}[outcome.verdict.winner]
    if method == "token":
        sure = [p for game in outcome.votes if (p := _probability(game, side)) is not None]
        return fmean(sure) if sure else None
    orders: dict[tuple[int, ...], list[float]] = {}
    for game in outcome.votes:
        orders.setdefault(game.order, []).append(_vote(game.winner, side))
    if method == "orders":
        return fmean([_majority(votes) for votes in orders.values()]) if len(orders) == 2 else None
    if max(map(len, orders.values())) < 2:
        return None
    return fmean([vote for votes in orders.values() for vote in votes])


def confidence_rows(outcomes: Iterable[ItemResult], method: Method) -> list[ConfidenceRow]:
    """Every item as `judge-r1 calibrate` reads it; an item without a confidence, invalid or not, has None."""
    return [
        ConfidenceRow(schema=1, confidence=confidence(o, method), correct=o.score == 1, cluster=o.cluster_id)
        for o in outcomes
    ]


def _probability(game: Vote, side: int | None) -> float | None:
    """Of the verdict's side, by one game; None where the game says nothing of it."""
    if game.confidence is None or game.winner is None:
        return None
    if side is None:
        return 0.5
    return game.confidence if game.winner == side else 1 - game.confidence


def _vote(winner: int | None, side: int | None) -> float:
    return 0.5 if winner is None or side is None else float(winner == side)


def _majority(votes: Sequence[float]) -> float:
    mean = fmean(votes)
    return 0.5 if mean == 0.5 else float(mean > 0.5)
