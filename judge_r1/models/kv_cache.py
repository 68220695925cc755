"""Key-value caches: one that grows without copying, and one that keeps the states of texts that were read before."""

from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
import transformers
from packaging.version import Version
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

States = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each layer, [heads, tokens, size]."""
CACHE_ARGUMENT = "cache" if Version(transformers.__version__) >= Version("5.24") else "past_key_values"
"""The argument of a model that takes the cache: transformers renames it, and refuses the old name from 5.40 on."""
_SPARE_COLUMNS = 32
"""At least; more for long texts. The attention of a step reads them too."""
MAX_PREFIX_BYTES = 2**29


def preallocated_cache(config: Any) -> DynamicCache:
    """An empty cache for a model of this configuration, with a `PreallocatedLayer` for each plain layer."""
    cache = DynamicCache(config=config)
    cache.layers = [PreallocatedLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache


class PreallocatedLayer(DynamicLayer):  # type: ignore[misc]
    """Allocates spare rows, and spare columns on both sides: `DynamicLayer` copies all states at every step.

    `keys` and `values`, [rows, heads, tokens, size], are views into the allocated tensors. The memory is given back
    with the layer.
    """

    keys: torch.Tensor
    values: torch.Tensor
    _allocated: tuple[torch.Tensor, torch.Tensor] | None = None
    _start = 0
    """The first allocated column in use."""

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        new = key_states.shape[-2]
        if not self.is_initialized:
            self._initialize(key_states, value_states)
        self.extend(right=new)
        for states, added in ((self.keys, key_states), (self.values, value_states)):
            states[..., states.shape[-2] - new :, :] = added
        return self.keys, self.values

    def load(self, texts: Sequence[tuple[torch.Tensor, torch.Tensor] | None], lengths: Sequence[int]) -> None:
        """Fill an empty layer with the first `lengths[i]` states of each text, padded with zeros on the left."""
        like, width = next(states for states in texts if states is not None), max(lengths)
        self._initialize(*(states.new_empty(len(texts), states.shape[0], 0, states.shape[2]) for states in like))
        self.extend(right=width)
        for row, (text, length) in enumerate(zip(texts, lengths, strict=True)):
            for part, target in enumerate((self.keys, self.values)):
                target[row, :, : width - length] = 0
                if text is not None:
                    target[row, :, width - length :] = text[part][:, :length]

    def extend(self, *, rows: int = 0, left: int = 0, right: int = 0) -> None:
        """Add zero rows at the end, zero columns on the left, and columns on the right that the caller writes."""
        count, _, columns, _ = self.keys.shape
        self.reserve(rows=rows, left=left, right=right)
        self._start -= left
        assert self._allocated is not None
        span = slice(self._start, self._start + left + columns + right)
        self.keys, self.values = (allocated[: count + rows, :, span] for allocated in self._allocated)
        for states in (self.keys, self.values) if left or rows else ():  # not at each step, for each layer
            states[:, :, :left] = 0
            states[count:] = 0

    def reserve(self, *, rows: int = 0, left: int = 0, right: int = 0) -> None:
        """Allocate rows and columns that `extend` can add without copying."""
        count, _, columns, _ = self.keys.shape
        capacity, end = (
            (0, 0) if self._allocated is None else (self._allocated[0].shape[0], self._allocated[0].shape[2])
        )
        full = count + rows > capacity or left > self._start or self._start + columns + right > end
        if full or self._allocated is None:
            if count + rows > capacity:
                capacity = count + rows + (count // 4 if rows else 0)
            self._grow(capacity, left, right)

    def has_room(self, columns: int) -> bool:
        """Whether `extend` can add columns on the right without copying."""
        return self._allocated is not None and self._start + self.keys.shape[2] + columns <= self._allocated[0].shape[2]

    @property
    def allocated_keys(self) -> torch.Tensor | None:
        """All allocated keys; None while nothing is allocated."""
        return None if self._allocated is None else self._allocated[0]

    @property
    def allocated_columns(self) -> tuple[int, int]:
        """The first allocated column in use, and the number of allocated columns."""
        assert self._allocated is not None
        return self._start, self._allocated[0].shape[2]

    def allocated(self, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        """All allocated columns of the first rows. Those not in use hold finite numbers."""
        assert self._allocated is not None
        return self._allocated[0][:rows], self._allocated[1][:rows]

    def drop_left(self, columns: int) -> None:
        """Remove the first columns."""
        self._start += columns
        self.keys, self.values = self.keys[:, :, columns:], self.values[:, :, columns:]

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep these rows, in this order. Rows that move below the others' places are copied in place."""
        rows = indices.tolist()
        moved = [new for new, old in enumerate(rows) if new != old]
        if len(rows) <= self.keys.shape[0] and all(rows[new] >= len(rows) for new in moved):
            for states in (self.keys, self.values):
                states[moved] = states[[rows[new] for new in moved]]
            self.keys, self.values = self.keys[: len(rows)], self.values[: len(rows)]
        else:
            self._allocated, self._start = None, 0
            super().batch_select_indices(indices)

    def _initialize(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        self.lazy_initialization(keys, values)
        self.keys, self.values = keys[:, :, :0], values[:, :, :0]

    def _grow(self, rows: int, left: int, right: int) -> None:
        """Copy the states into larger tensors, with room for the new columns and some more."""
        count, heads, columns, _ = self.keys.shape
        more = max(_SPARE_COLUMNS, columns // 8)
        # Texts grow on the left only when a longer one joins the batch, so spare columns wait for the first time.
        spare = more if left else 0
        grown = []
        for old in (self.keys, self.values):
            new = old.new_zeros(rows, heads, spare + left + columns + right + more, old.shape[3])
            new[:count, :, spare + left : spare + left + columns] = old
            grown.append(new)
        self._allocated, self._start = (grown[0], grown[1]), spare + left
        self.keys, self.values = (new[:count, :, self._start : self._start + columns] for new in grown)


class PrefixCache:
    """Copies of states by the ids they belong to. Evicts the least recently used beyond `max_bytes`.

    With `min_shared`, a text that continues otherwise is found too, if at least so many of its first ids are the same.
    """

    def __init__(self, max_bytes: int = MAX_PREFIX_BYTES, min_shared: int | None = None) -> None:
        self.max_bytes, self.min_shared = max_bytes, min_shared
        self.clear()

    def clear(self) -> None:
        """Drop all states. Call it when the model's weights change."""
        self._states: OrderedDict[tuple[int, ...], States] = OrderedDict()
        self._lengths: Counter[int] = Counter()
        self._bytes = 0

    def put(self, ids: Sequence[int], states: States) -> None:
        """Store a copy of the states of `ids`."""
        key, size = tuple(ids), _bytes(states)
        if key in self._states:
            self._states.move_to_end(key)
            return
        if not key or size > self.max_bytes:
            return
        self._states[key] = [(keys.clone(), values.clone()) for keys, values in states]
        self._lengths[len(key)] += 1
        self._bytes += size
        while self._bytes > self.max_bytes:
            old, evicted = self._states.popitem(last=False)
            self._lengths[len(old)] -= 1
            self._bytes -= _bytes(evicted)

    def longest(self, prompt: Sequence[int]) -> tuple[int, States | None]:
        """The length of the longest known prefix of the prompt, and its states, which may be longer with `min_shared`.
        The last id is never part of it: it has to be read for the distribution of the next one."""
        key = tuple(prompt)
        if self.min_shared is not None:
            shared = {known: shared_length(known, key[:-1]) for known in self._states}
            best = max(shared, key=lambda known: shared[known], default=())
            if best and shared[best] >= self.min_shared:
                self._states.move_to_end(best)
                return shared[best], self._states[best]
        for length in sorted((n for n, count in self._lengths.items() if count and n < len(key)), reverse=True):
            if (states := self._states.get(key[:length])) is not None:
                self._states.move_to_end(key[:length])
                return length, states
        return 0, None


def shared_length(one: Sequence[int], other: Sequence[int]) -> int:
    """The number of first ids that two texts share."""
    return bisect_left(range(min(len(one), len(other))), True, key=lambda n: one[: n + 1] != other[: n + 1])


def _bytes(states: States) -> int:
    return sum(tensor.numel() * tensor.element_size() for pair in states for tensor in pair)
