"""The results of a panel as arrays: what a summary needs of a result, in 120 bytes instead of 3 KB.

A summary reads all results many times, so they are in arrays even where the results themselves are on disk.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge_r1.core.items import ItemResult, Vote
from judge_r1.core.verdicts import InvalidVerdict, PairwiseVerdict, preference
from judge_r1.files.arrays.id_table import TextColumn, Texts, sorted_order, starts_new

UNKNOWN = -1
"""The value of a flag that is None."""
_TIE = PairwiseVerdict(winner="tie")
_ROW = np.dtype(
    [
        *((name, "f8") for name in ("score", "reward")),
        *((name, "i4") for name in ("group", "ended", "votes", "valid_votes", "searches", "decided", "first")),
        *((name, "i4") for name in ("both_orders", "consistent")),
        *((name, "?") for name in ("valid", "fits", "answered", "swapped", "tie", "gold_a")),
        *((name, "?") for name in ("counts", "labelled", "single")),
        *((name, "i1") for name in ("prefers_a", "valid_strict", "valid_tolerant", "evidence_hit")),
        *((name, "u1") for name in ("violated", "named")),
    ]
)
"""`group` and `ended` are numbers of `groups` and `endings`; `violated` and `named` have a bit for each principle. The
votes are those on the item: `decided` ones prefer a candidate, `first` ones that shown first. `both_orders` are the
pairs of votes that one judge decided in both orders of a sample, `consistent` those with the same winner. `swapped`
items were shown in both orders."""


class ResultTable:
    """Some results of a panel: the rows at `index` of the arrays, which their slices share."""

    def __init__(self, whole: "_Arrays", index: NDArray[np.int32]) -> None:
        self._whole, self._index = whole, index

    @classmethod
    def of(
        cls, results: "Sequence[ItemResult] | ResultTable", counts: Callable[[Any], bool] = lambda gold: True
    ) -> "ResultTable":
        """The table of results, which are read once. `counts` is that of the benchmark. A table stays as it is."""
        if isinstance(results, ResultTable):
            return results
        return cls(_Arrays(results, counts), np.arange(len(results), dtype=np.int32))

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """The values of a column."""
        values: NDArray[Any] = self._whole.rows[column][self._index]
        return values

    @property
    def clusters(self) -> NDArray[np.int32]:
        """The clusters as numbers in the order of their names."""
        return self._whole.clusters[self._index]

    @property
    def ids(self) -> Texts:
        """The ids of the items."""
        return self._whole.ids[self._index]

    @property
    def index(self) -> NDArray[np.int32]:
        """The positions of the results in the sequence that the table was made of."""
        return self._index

    def where(self, chosen: NDArray[np.bool_]) -> "ResultTable":
        """The results that are chosen."""
        return ResultTable(self._whole, self._index[chosen])

    def by_id(self) -> "ResultTable":
        """The results in the order of their ids."""
        return ResultTable(self._whole, self._index[np.argsort(self._whole.places[self._index], kind="stable")])

    def by_group(self) -> "dict[str, ResultTable]":
        """The results of each group, in alphabetical order."""
        groups, own = self._whole.groups, self["group"]
        return {name: self.where(own == groups[name]) for name in sorted(groups) if (own == groups[name]).any()}

    def has_repeats(self) -> bool:
        """Whether an item is there twice."""
        return not starts_new(self._whole.ids, self.by_id().index).all()

    def endings(self) -> Counter[str]:
        """The number of votes by the reason for which their episode ended."""
        found = Counter[str]()
        for number, times in zip(*np.unique(self["ended"], return_counts=True), strict=True):
            for reason, count in self._whole.endings[number]:
                found[reason] += count * int(times)
        return found


class _Arrays:
    """The arrays of all results, in their order."""

    def __init__(self, results: Sequence[ItemResult], counts: Callable[[Any], bool]) -> None:
        self.rows = np.zeros(len(results), dtype=_ROW)
        self.groups: dict[str, int] = {}
        endings: dict[tuple[tuple[str, int], ...], int] = {}
        ids, clusters = TextColumn(), TextColumn()
        for index, result in enumerate(results):
            ended = tuple(sorted(Counter(vote.ended for vote in result.votes).items()))
            numbers = (
                self.groups.setdefault(result.group, len(self.groups)), endings.setdefault(ended, len(endings)),
            )  # fmt: skip
            self.rows[index] = _row(result, numbers, counts(result.gold))
            ids.add(result.item_id)
            clusters.add(result.cluster_id)
        self.endings = list(endings)
        self.ids, self.clusters = ids.array(), _ranks(clusters.array(), equal=True)
        self.places = _ranks(self.ids, equal=False)


def _ranks(texts: Texts, *, equal: bool) -> NDArray[np.int32]:
    """The position of each text among the sorted ones; equal texts share one if `equal`."""
    order = sorted_order(texts)
    ranks = np.empty(len(texts), dtype=np.int32)
    ranks[order] = np.cumsum(starts_new(texts, order), dtype=np.int32) if equal else np.arange(len(order))
    return ranks


def _row(result: ItemResult, numbers: tuple[int, int], counts: bool) -> tuple[Any, ...]:
    """The values of a row, in the order of `_ROW`."""
    labels, said = result.labels, preference(result.verdict)
    winners = [vote.winner for vote in result.votes]
    in_both, same = _both_orders(result.votes) if len(result.votes) > 1 else (0, 0)
    return (
        result.score,
        labels.reward["r"] if labels else 0,
        *numbers,
        len(result.votes),
        sum(not isinstance(vote.verdict, InvalidVerdict) for vote in result.votes),
        sum(vote.searches for vote in result.votes),
        sum(winner is not None for winner in winners),
        sum(winner == vote.order[0] for winner, vote in zip(winners, result.votes, strict=True)),
        in_both,
        same,
        result.valid,
        not any(isinstance(vote.verdict, InvalidVerdict) and vote.verdict.does_not_fit for vote in result.votes),
        result.answered,
        {(0, 1), (1, 0)} <= {vote.order for vote in result.votes},
        result.verdict == _TIE,
        result.gold == "A",
        counts,
        labels is not None,
        labels is not None and labels.kind == "single",
        "BA".find(said) if said else UNKNOWN,
        *map(_flag, (labels.valid_strict, labels.valid_tolerant, labels.evidence_hit) if labels else (None,) * 3),
        _bits(labels.violated if labels else ()),
        _bits((labels.predicted if labels else None) or ()),
    )


def _flag(value: bool | None) -> int:
    return UNKNOWN if value is None else int(value)


def _bits(principles: Iterable[int]) -> int:
    return sum(1 << number for number in set(principles))


def _both_orders(votes: Sequence[Vote]) -> tuple[int, int]:
    """The pairs of votes on two candidates that a judge decided in both orders, and those with the same winner."""
    winners = {(vote.member, vote.sample, vote.order): vote.winner for vote in votes if len(vote.order) == 2}
    pairs = [
        (winner, winners.get((member, sample, order[::-1])))
        for (member, sample, order), winner in winners.items()
        if order[0] < order[1]
    ]
    decided = [one == other for one, other in pairs if one is not None and other is not None]
    return len(decided), sum(decided)
