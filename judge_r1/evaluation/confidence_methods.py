"""The confidence of a judge in the verdict on an item, by three methods (`judge-r1 calibrate`).

token     mean probability of the verdict over the votes, from the decision token: c for a vote with the same verdict,
          1 - c for a vote for the other candidate (`judge_r1.episode.confidence`)
orders    agreement of the two orders: each order votes by its majority, and the confidence is the share of votes for
          the verdict (with JudgeBench's two votes 1 if they agree, else 1/2)
samples   agreement of samples or members: the share of votes for the verdict

A tie or an invalid vote counts half for either side, and the confidence in a tie is 1/2. The confidence is None for an
invalid verdict, for an item that is not a pair, and if there is nothing to compare: no known probabilities (token), one
order (orders), one vote per order (samples).
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Literal

from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.evaluation.calibrate import ConfidenceRow
from judge_r1.evaluation.results import read_outcomes

Method = Literal["token", "orders", "samples"]
METHODS: tuple[Method, ...] = ("token", "orders", "samples")


def confidence(outcome: ItemResult, method: Method) -> float | None:
    """The confidence in [0, 1], or None; below 1/2 if most of the evidence is against the verdict."""
    if not isinstance(outcome.verdict, PairwiseVerdict) or any(set(vote.order) != {0, 1} for vote in outcome.votes):
        return None
    side = {"A": 0, "B": 1, "tie": None}[outcome.verdict.winner]
    if method == "token":
        probabilities = [p for vote in outcome.votes if (p := _probability(vote, side)) is not None]
        return fmean(probabilities) if probabilities else None
    orders: dict[tuple[int, ...], list[float]] = {}
    for vote in outcome.votes:
        orders.setdefault(vote.order, []).append(_vote(vote.winner, side))
    if method == "orders":
        return fmean([_majority(votes) for votes in orders.values()]) if len(orders) == 2 else None
    if max(map(len, orders.values())) < 2:
        return None
    return fmean([vote for votes in orders.values() for vote in votes])


def confidence_rows(outcomes: Iterable[ItemResult], method: Method) -> list[ConfidenceRow]:
    """One row per item for `judge-r1 calibrate`; the confidence may be None."""
    return [
        ConfidenceRow(schema=1, confidence=confidence(o, method), correct=o.score == 1, cluster=o.cluster_id)
        for o in outcomes
    ]


def evaluation_confidences(folder: Path, judge: str | None, method: Method) -> list[ConfidenceRow]:
    """The confidences of one judge of the evaluation in `folder`; `judge` may be None if it is the only one.

    Raises:
        JudgeError: The judge is unknown or has no confidence by this method, none of several judges is chosen, or
            outcomes.jsonl does not belong to summary.json.
    """
    outcomes = read_outcomes(folder)
    if judge is None and len(outcomes) > 1:
        raise JudgeError(f"{folder} holds {len(outcomes)} judges: choose one with --judge-name ({', '.join(outcomes)})")
    name = next(iter(outcomes)) if judge is None else judge
    if name not in outcomes:
        raise JudgeError(f"{folder} holds no judge {name!r}; available: {', '.join(outcomes)}")
    rows = confidence_rows(outcomes[name], method)
    if all(row.confidence is None for row in rows):
        others = " or ".join(known for known in METHODS if known != method)
        raise JudgeError(f"{folder}: judge {name!r} has no confidence by {method}: try {others}")
    return rows


def _probability(vote: Vote, side: int | None) -> float | None:
    """The probability of the verdict's side according to one vote; None if unknown."""
    if vote.confidence is None or vote.winner is None:
        return None
    if side is None:
        return 0.5
    return vote.confidence if vote.winner == side else 1 - vote.confidence


def _vote(winner: int | None, side: int | None) -> float:
    return 0.5 if winner is None or side is None else float(winner == side)


def _majority(votes: Sequence[float]) -> float:
    mean = fmean(votes)
    return 0.5 if mean == 0.5 else float(mean > 0.5)
