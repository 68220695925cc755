"""Where the lines of a file are: their byte offsets, by the number of what they are about."""

from array import array
from collections.abc import Iterator


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
