"""Positions in arrays instead of objects: of lines in a file, and of questions about items.

`LineIndex` has the byte offsets of lines by the number of what they are about, `Places` numbers what is asked about
items, and a `LazySequence` makes its elements whenever they are read.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Generic, TypeVar, overload


class LineIndex:
    """Byte offsets of lines, any number of them for each of `size` numbers: 12 bytes a line.

    The lines of a number are a chain from its last one to its first.
    """

    def __init__(self, size: int = 0) -> None:
        self._offsets, self._before = array("q"), array("i")
        self._last, self._counts = array("i", [-1]) * size, array("i", [0]) * size

    def __len__(self) -> int:
        return len(self._counts)

    def grow(self) -> int:
        """Adds a number without lines and returns it."""
        self._last.append(-1)
        self._counts.append(0)
        return len(self._last) - 1

    def add(self, number: int, offset: int) -> int:
        """Notes a line. Returns how many lines its number has."""
        self._before.append(self._last[number])
        self._last[number] = len(self._offsets)
        self._offsets.append(offset)
        self._counts[number] += 1
        return self._counts[number]

    def __getitem__(self, number: int) -> list[int]:
        """The offsets of a number, in the order in which they were added."""
        offsets, entry = [], self._last[number]
        while entry >= 0:
            offsets.append(self._offsets[entry])
            entry = self._before[entry]
        return offsets[::-1]

    @property
    def counts(self) -> "array[int]":
        """How many lines each number has."""
        return self._counts

    def present(self) -> Iterator[int]:
        """The numbers that have lines, in ascending order."""
        return (number for number, count in enumerate(self._counts) if count)


K = TypeVar("K")
T = TypeVar("T")


class LazySequence(Sequence[T], Generic[K, T]):
    """`make(key)` for each of `keys`. Memory holds the keys alone."""

    def __init__(self, keys: Sequence[K], make: Callable[[K], T]) -> None:
        self.keys, self._make = keys, make

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> "LazySequence[K, T]": ...

    def __getitem__(self, index: int | slice) -> "T | LazySequence[K, T]":
        return LazySequence(self.keys[index], self._make) if isinstance(index, slice) else self._make(self.keys[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


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
