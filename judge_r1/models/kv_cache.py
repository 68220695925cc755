"""Key-value caches: one that grows without copying, and one that keeps the states of texts that were read before."""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

States = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each layer, [heads, tokens, size]."""
_SPARE_COLUMNS = 128
MAX_PREFIX_BYTES = 2**29


def preallocated_cache(config: Any) -> DynamicCache:
    """An empty cache for a model of this configuration, with a `PreallocatedLayer` for each plain layer."""
    cache = DynamicCache(config=config)
    cache.layers = [PreallocatedLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache


class PreallocatedLayer(DynamicLayer):  # type: ignore[misc]
    """Allocates spare columns: a step writes one column, where `DynamicLayer` copies all of them.

    `keys` and `values`, [rows, heads, tokens, size], are views into the allocated tensors.
    """

    keys: torch.Tensor
    values: torch.Tensor
    allocated: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        length = self.get_seq_length()
        needed = length + key_states.shape[-2]
        if self.allocated is None or needed > self.allocated[0].shape[-2]:
            shape = (*key_states.shape[:-2], needed + _SPARE_COLUMNS, key_states.shape[-1])
            grown = key_states.new_empty(shape), value_states.new_empty(shape)
            for new, old in zip(grown, (self.keys, self.values), strict=True):
                if length:
                    new[..., :length, :] = old
            self.allocated = grown
        for allocated, states in zip(self.allocated, (key_states, value_states), strict=True):
            allocated[..., length:needed, :] = states
        self.keys, self.values = (allocated[..., :needed, :] for allocated in self.allocated)
        return self.keys, self.values

    def widen(self, left: int, rows: int) -> None:
        """Add `left` zero columns on the left and `rows` zero rows at the end, and allocate spare columns."""
        length = self.get_seq_length()
        grown = []
        for old in (self.keys, self.values):
            count, heads, _, size = old.shape
            new = old.new_zeros(count + rows, heads, left + length + _SPARE_COLUMNS, size)
            new[:count, :, left : left + length] = old
            grown.append(new)
        self.allocated = grown[0], grown[1]
        self.keys, self.values = (new[..., : left + length, :] for new in grown)

    def replace(self, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Set the states to tensors of another shape."""
        self.allocated, self.keys, self.values = None, keys, values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        self.allocated = None
        super().batch_select_indices(indices)


class PrefixCache:
    """Copies of states by the ids they belong to. Evicts the least recently used beyond `max_bytes`."""

    def __init__(self, max_bytes: int = MAX_PREFIX_BYTES) -> None:
        self.max_bytes = max_bytes
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
        """The length of the longest known prefix of the prompt, and its states. The last id is never part of it: it
        has to be read for the distribution of the next one."""
        key = tuple(prompt)
        for length in sorted((n for n, count in self._lengths.items() if count and n < len(key)), reverse=True):
            if (states := self._states.get(key[:length])) is not None:
                self._states.move_to_end(key[:length])
                return length, states
        return 0, None


def _bytes(states: States) -> int:
    return sum(tensor.numel() * tensor.element_size() for pair in states for tensor in pair)
