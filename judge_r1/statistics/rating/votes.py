"""A table of votes: how often a judge answered an item, and with how many points."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class VoteTable:
    """Votes summed by judge and item: `judge` and `item` are indices, `count` the votes and `score` their points.

    A point is a correct answer; half a point is a tie. `cluster` gives the cluster of each item: items of one document
    are not independent. The cells are sorted by judge and item and no cell occurs twice, so the order of the votes
    changes nothing.
    """

    judges: tuple[str, ...]
    items: tuple[str, ...]
    judge: Ints
    item: Ints
    count: Floats
    score: Floats
    cluster: Ints

    @property
    def full(self) -> bool:
        """Whether every judge answered every item equally often."""
        cells = len(self.judges) * len(self.items)
        return len(self.judge) == cells > 0 and bool(np.all(self.count == self.count[0]))

    @property
    def judge_points(self) -> tuple[Floats, Floats]:
        """Points and votes of each judge."""
        return self._sums(self.judge, len(self.judges))

    @property
    def item_points(self) -> tuple[Floats, Floats]:
        """Points of the judges on each item, and votes on it."""
        return self._sums(self.item, len(self.items))

    def _sums(self, index: Ints, size: int) -> tuple[Floats, Floats]:
        return sums(index, self.score, size), sums(index, self.count, size)

    def matrix(self) -> tuple[Floats, Floats]:
        """(points, votes) as matrices of judges × items."""
        points, votes = (np.zeros((len(self.judges), len(self.items))) for _ in range(2))
        points[self.judge, self.item], votes[self.judge, self.item] = self.score, self.count
        return points, votes

    def subset(self, judges: Iterable[str] | None = None, items: Iterable[str] | None = None) -> "VoteTable":
        """The votes of these judges on these items. Judges and items without votes are left out, too."""
        wanted_judges = np.isin(self.judges, list(self.judges if judges is None else judges))
        wanted_items = np.isin(self.items, list(self.items if items is None else items))
        return self.select(wanted_judges[self.judge] & wanted_items[self.item])

    def select(self, cells: NDArray[np.bool_]) -> "VoteTable":
        """The cells where the mask is true, with the judges and items that they mention."""
        judges, judge = np.unique(self.judge[cells], return_inverse=True)
        items, item = np.unique(self.item[cells], return_inverse=True)
        return VoteTable(
            tuple(self.judges[index] for index in judges),
            tuple(self.items[index] for index in items),
            judge.astype(np.int64),
            item.astype(np.int64),
            self.count[cells],
            self.score[cells],
            np.unique(self.cluster[items], return_inverse=True)[1].astype(np.int64),
        )


def vote_table(votes: Iterable[tuple[str, str, float]], clusters: Mapping[str, str] | None = None) -> VoteTable:
    """The table of (judge, item, points) votes. `clusters` names the cluster of each item; by default each item is one.

    Raises:
        ValueError: A vote has points below 0 or above 1, or there is no vote.
    """
    names: tuple[list[str], list[str]] = ([], [])
    points = []
    for judge, item, score in votes:
        names[0].append(judge)
        names[1].append(item)
        points.append(score)
    return vote_arrays(names[0], names[1], np.asarray(points, dtype=np.float64), clusters)


def vote_arrays(
    judges: Sequence[str], items: Sequence[str], points: Floats, clusters: Mapping[str, str] | None = None
) -> VoteTable:
    """The table of votes given as columns. Raises: ValueError, as `vote_table`."""
    if not len(points):
        raise ValueError("there are no votes to rate")
    if not np.all((points >= 0) & (points <= 1)):
        raise ValueError("a vote scores from 0 to 1 points")
    judge_names, judge = _numbered(judges)
    item_names, item = _numbered(items)
    cells, cell = np.unique(judge * len(item_names) + item, return_inverse=True)
    cluster = np.unique([(clusters or {}).get(name, name) for name in item_names], return_inverse=True)[1]
    return VoteTable(
        judge_names,
        item_names,
        (cells // len(item_names)).astype(np.int64),
        (cells % len(item_names)).astype(np.int64),
        sums(cell, np.ones(len(points))),
        sums(cell, points),
        cluster.astype(np.int64),
    )


def sums(index: Ints, values: Floats, size: int | None = None) -> Floats:
    """The sum of the values at each index below `size`."""
    return np.bincount(index, values, 0 if size is None else size).astype(np.float64)


def _numbered(names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """The distinct names in alphabetical order, and the index of each given name."""
    distinct = tuple(sorted(set(names)))
    index = {name: number for number, name in enumerate(distinct)}
    return distinct, np.fromiter((index[name] for name in names), dtype=np.int64, count=len(names))
