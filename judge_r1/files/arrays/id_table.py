"""Ids in arrays: a million of them take 25 MB, and six times as much in a dict.

The arrays hold bytes, as wide as the longest id. NumPy's variable-width strings are not stable enough for this (2.4.6).
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Texts = NDArray[np.bytes_]
"""Texts in UTF-8, each with a byte behind it, since NumPy drops zeros at the end. They sort like
the texts, but for those with U+0000 or U+0001."""
_END = b"\1"
_CHUNK = 1 << 16
"""Texts that are a list before they are an array."""


class TextColumn:
    """Texts that become one array, without a list of all of them in between."""

    def __init__(self) -> None:
        self._chunks: list[Texts] = []
        self._waiting: list[bytes] = []

    def add(self, text: str) -> None:
        self._waiting.append(_packed(text))
        if len(self._waiting) == _CHUNK:
            self._pack()

    def array(self) -> Texts:
        """All texts. The column is empty afterwards: each chunk goes when it is copied, so that none is there twice."""
        self._pack()
        whole = np.empty(sum(map(len, self._chunks)), dtype=max(chunk.dtype for chunk in self._chunks))
        end = len(whole)
        while self._chunks:
            chunk = self._chunks.pop()
            whole[end - len(chunk) : end] = chunk
            end -= len(chunk)
        return whole

    def _pack(self) -> None:
        self._chunks.append(np.array(self._waiting, dtype=np.bytes_))
        self._waiting = []


class IdTable(Mapping[str, int]):
    """The position of each id. `order` sorts the ids; of equal ids, the first position counts."""

    def __init__(self, ids: Iterable[str]) -> None:
        column = TextColumn()
        for one in ids:
            column.add(one)
        self._ids = column.array()
        self.order = sorted_order(self._ids)

    @property
    def distinct(self) -> int:
        """The number of ids that differ."""
        return int(starts_new(self._ids, self.order).sum())

    def at(self, position: int) -> str:
        """The id at a position."""
        return unpacked(self._ids[position])

    def __getitem__(self, one: str) -> int:
        wanted = _packed(one)
        rank = bisect_left(self.order, wanted, key=self._ids.__getitem__)
        if rank == len(self.order) or self._ids[position := int(self.order[rank])] != wanted:
            raise KeyError(one)
        return position

    def __iter__(self) -> Iterator[str]:
        return map(unpacked, self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def sorted_order(texts: Texts) -> NDArray[np.int32]:
    """The positions of the texts in sorted order; those of equal texts stay in their order."""
    return np.argsort(texts, kind="stable").astype(np.int32)


def starts_new(texts: Texts, order: NDArray[np.int32]) -> NDArray[np.bool_]:
    """For each text in sorted order, whether it differs from the one before it."""
    different = np.ones(len(order), dtype=np.bool_)
    for start in range(1, len(order), _CHUNK):  # a chunk at a time: texts in another order are a copy
        part = texts[order[start - 1 : start + _CHUNK]]
        different[start : start + _CHUNK] = part[1:] != part[:-1]
    return different


def _packed(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass") + _END


def unpacked(text: Any) -> str:
    """The text of an element of `Texts`."""
    return bytes(text[:-1]).decode("utf-8", "surrogatepass")
