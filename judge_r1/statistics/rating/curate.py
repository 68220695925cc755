"""Chooses the items that a rating is fitted on: complete, informative, not refused by people, not the hardest few.

Items that mislead nearly all judges are often labelled wrongly, so the paper drops the hardest 5 %. Where every judge
answered every item, items that mislead equally many judges have equal ratings. The cut keeps such a block whole.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from judge_r1.statistics.rating.bradley_terry import fit
from judge_r1.statistics.rating.separation import separate
from judge_r1.statistics.rating.votes import VoteTable

Reason = Literal["incomplete", "uninformative", "refused", "hardest", "not comparable"]
_SAME_ELO = 1e-4
"""Ratings closer than this, in Elo, are one block."""


@dataclass(frozen=True)
class Curation:
    """The kept votes, and the reason for each item that was dropped."""

    kept: VoteTable
    dropped: Mapping[str, Reason] = field(default_factory=dict)


def informative(
    table: VoteTable, *, complete: bool = True, refused: Collection[str] = (), expected: Collection[str] | None = None
) -> Curation:
    """Drops items without a vote of every judge (with `complete`), items on which all judges agree, and `refused` ones.

    `expected` names the judges that must have answered; by default all of the table.

    Raises:
        ValueError: No item is left.
    """
    votes = np.bincount(table.item, minlength=len(table.items))
    points, count = table.item_points
    judges = len(set(expected) if expected is not None else table.judges)
    dropped: dict[str, Reason] = {}
    for index, item in enumerate(table.items):
        if complete and votes[index] < judges:
            dropped[item] = "incomplete"
        elif points[index] in (0.0, count[index]):
            dropped[item] = "uninformative"
        elif item in refused:
            dropped[item] = "refused"
    kept = [item for item in table.items if item not in dropped]
    if not kept:
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(Counter(dropped.values()).items()))
        raise ValueError(
            f"no item is left to rate judges on ({reasons}): rate judges that answered the same items, or keep partly "
            "answered ones (--partial)"
        )
    return Curation(table.subset(items=kept), dropped)


def drop_hardest(table: VoteTable, share: float = 0.05, *, compat: bool = False, prior: float = 0.0) -> Curation:
    """Drops the hardest items: the largest set of whole blocks that is at most `share` of the items, maybe none.

    `compat` drops max(1, round(share·n)) items, and of the block at the cut the first ids in alphabetical order, like
    the public code. Items without a finite rating count as hardest or easiest by the side that they are on.
    """
    rating = _difficulties(table, prior)
    count = len(rating)
    if compat:
        cut = sorted(rating, key=lambda item: (-np.round(rating[item]), item))[: max(1, round(share * count))]
    else:
        ordered = sorted(rating, key=lambda item: (-rating[item], item))
        # In floats, .29 * 100 is below 29.
        size = int(share * count + 1e-9)
        while 0 < size < count and _same(rating[ordered[size - 1]], rating[ordered[size]]):
            size -= 1
        cut = ordered[:size]
    dropped: dict[str, Reason] = dict.fromkeys(cut, "hardest")
    return Curation(table.subset(items=[item for item in table.items if item not in dropped]), dropped)


def _difficulties(table: VoteTable, prior: float) -> dict[str, float]:
    """Elo of each item; ±inf for one above or below all others. Items that cannot be compared get the centre."""
    if prior:
        return dict(zip(table.items, fit(table, prior=prior).elo()[1].tolist(), strict=True))
    parts = separate(table)
    rating = dict(zip(parts.rated.items, fit(parts.rated).elo()[1].tolist(), strict=True))
    sides = {"above": np.inf, "below": -np.inf, "not comparable": float(np.median(list(rating.values())))}
    return {item: rating[item] if item in rating else sides[parts.items[item]] for item in table.items}


def _same(one: float, other: float) -> bool:
    return one == other or abs(one - other) < _SAME_ELO
