"""Numbers what is asked about items: every value of every item, each a number of times."""

from array import array
from bisect import bisect_right
from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

V = TypeVar("V", bound=Hashable)


class Places(Generic[V]):
    """The triples (item, value, repeat) by their position: items in order, `repeats` of each value. Few values differ,
    so a value is a number of 4 bytes."""

    def __init__(self, repeats: int) -> None:
        self._repeats = repeats
        self._known: dict[V, int] = {}
        self._distinct: list[V] = []
        # The values of item i are those of `_values` from `_starts[i]` to `_starts[i + 1]`.
        self._starts, self._values = array("q", [0]), array("i")

    def add(self, values: Sequence[V]) -> None:
        """Adds the next item with its values."""
        for value in values:
            if value not in self._known:
                self._known[value] = len(self._distinct)
                self._distinct.append(value)
            self._values.append(self._known[value])
        self._starts.append(len(self._values))

    def __len__(self) -> int:
        return len(self._values) * self._repeats

    def __getitem__(self, position: int) -> tuple[int, V, int]:
        index, repeat = divmod(int(position), self._repeats)
        return bisect_right(self._starts, index) - 1, self._distinct[self._values[index]], repeat

    def find(self, item: int, value: V, repeat: int) -> int | None:
        """The position of a triple; None if there is none."""
        if 0 <= repeat < self._repeats and (number := self._known.get(value)) is not None:
            for index in range(self._starts[item], self._starts[item + 1]):
                if self._values[index] == number:
                    return index * self._repeats + repeat
        return None

    def counts(self) -> "array[int]":
        """The number of positions of each item."""
        return array("i", ((after - before) * self._repeats for before, after in pairwise(self._starts)))
