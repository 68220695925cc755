"""Describes verdicts and golds in words, in terms of an item's own candidates: A, B, C and so on."""

import json
from collections.abc import Sequence

from judge_r1.core.items import Item, ItemResult
from judge_r1.core.records import (
    ChecklistVerdict,
    InvalidVerdict,
    PairwiseVerdict,
    RankingVerdict,
    ScoresVerdict,
    Verdict,
)


def describe_verdict(verdict: Verdict, order: Sequence[int]) -> str:
    """A verdict in words. `order` lists the candidates in the order shown."""

    def name(position: int) -> str:
        return letter(order[position] if position < len(order) else position)

    if isinstance(verdict, InvalidVerdict):
        return f"no verdict ({verdict.reason})"
    if isinstance(verdict, PairwiseVerdict):
        return "tie" if verdict.winner == "tie" else f"{name('AB'.index(verdict.winner))} is better"
    if isinstance(verdict, ScoresVerdict):
        if len(verdict.scores) == 1:
            return f"{verdict.scores[0]:g}"
        return ", ".join(f"{name(position)} {score:g}" for position, score in enumerate(verdict.scores))
    if isinstance(verdict, RankingVerdict):
        return " > ".join(map(name, verdict.order))
    assert isinstance(verdict, ChecklistVerdict)
    return ", ".join(f"{point} {score:g}" for point, score in verdict.scores.items())


def letter(index: int) -> str:
    """The name of a candidate: A to Z, then numbers from 27."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def describe_result(outcome: ItemResult) -> str:
    """The result of an item in words. Best-of-n by pairwise votes prefers neither A nor B."""
    shown = {index for vote in outcome.votes for index in vote.order}
    if isinstance(outcome.verdict, PairwiseVerdict) and shown > {0, 1}:
        return "the best one wins" if outcome.score == 1 else "the best one does not win"
    return describe_verdict(outcome.verdict, range(max(len(outcome.votes[0].order), 2)))


def describe_gold(item: Item) -> str:
    if item.gold in ("A", "B"):
        return f"{item.gold} is better"
    if (best := best_of(item)) is not None:
        return f"{letter(best)} is best"
    return item.gold if isinstance(item.gold, str) else json.dumps(item.gold, ensure_ascii=False, default=str)


def best_of(item: Item) -> int | None:
    """The index of the best candidate, if the gold names one."""
    if item.gold in ("A", "B") and len(item.candidates) == 2:
        return "AB".index(item.gold)
    whole = isinstance(item.gold, int) and not isinstance(item.gold, bool)
    return item.gold if whole and 0 <= item.gold < len(item.candidates) and len(item.candidates) > 1 else None
