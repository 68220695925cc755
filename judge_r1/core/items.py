"""Benchmark items, the votes of judges on them, and the result of each item."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from judge_r1.core.records import InvalidVerdict, NonEmpty, PairwiseVerdict, Record, Verdict


class Item(Record):
    """One question of a benchmark, with one candidate (pointwise), two (pairwise) or more (listwise, best-of-n).
    `cluster_id` groups items that are not independent (one case, one question); `group` is the part of the benchmark
    whose numbers stand alone (a domain, a subset). The gold of a pair is "A", "B" or "tie"; of best-of-n it is the
    place of the best candidate; other protocols say what theirs is."""

    item_id: NonEmpty
    cluster_id: NonEmpty
    group: NonEmpty = "all"
    case_id: str | None = None
    instruction: str
    candidates: tuple[str, ...] = Field(min_length=1)
    gold: Any


class Vote(Record):
    """One ask, answered: the candidates `order` as they were shown, and the verdict on them, in terms of what was
    shown ("A" is the candidate shown first)."""

    order: tuple[int, ...] = Field(min_length=1)
    sample: int = Field(ge=0)
    member: int = Field(ge=0)
    verdict: Verdict
    ended: NonEmpty
    searches: int = Field(ge=0)
    confidence: float | None = Field(None, ge=0, le=1)

    @property
    def winner(self) -> int | None:
        """The candidate preferred in a game of two; None for a tie or an invalid answer."""
        if not isinstance(self.verdict, PairwiseVerdict) or self.verdict.winner == "tie":
            return None
        return self.order["AB".index(self.verdict.winner)]


class AggregatedVerdict(Record):
    """All games of an item as one: the verdict, in terms of the item's own candidates, and what it is worth."""

    verdict: Verdict
    credit: float = Field(ge=0, le=1)


class ItemResult(Record):
    """The row `judge` on one item. `credit` is 1 where it is right and 0 where it is wrong or invalid; protocols with
    more in between say so."""

    judge: NonEmpty
    item_id: NonEmpty
    cluster_id: NonEmpty
    group: NonEmpty
    gold: Any
    verdict: Verdict
    credit: float = Field(ge=0, le=1)
    games: tuple[Vote, ...] = Field(min_length=1)

    @property
    def valid(self) -> bool:
        return not isinstance(self.verdict, InvalidVerdict)


def item_result(judge: str, item: Item, games: Sequence[Vote], settled: AggregatedVerdict) -> ItemResult:
    return ItemResult(
        judge=judge,
        item_id=item.item_id,
        cluster_id=item.cluster_id,
        group=item.group,
        gold=item.gold,
        verdict=settled.verdict,
        credit=settled.credit,
        games=tuple(games),
    )
