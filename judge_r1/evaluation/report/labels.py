"""Describes results and golds in words, in terms of an item's own candidates: A, B, C and so on."""

import json

from judge_r1.core.items import Item, ItemResult
from judge_r1.core.verdicts import PairwiseVerdict, describe_verdict, letter


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
