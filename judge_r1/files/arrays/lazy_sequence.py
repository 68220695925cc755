"""A sequence whose elements are made whenever they are read."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

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
