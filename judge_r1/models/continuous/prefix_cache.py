"""Keys and values of texts that were read before: the next turn of an episode reads what is new only."""

from collections import Counter, OrderedDict
from collections.abc import Sequence

import torch

States = list[tuple[torch.Tensor, torch.Tensor]]
"""Of each layer, keys and values, [heads, tokens, size]."""
MAX_BYTES = 2**29


class PrefixCache:
    """States by the ids that they belong to; the oldest give way at `max_bytes`."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self.clear()

    def clear(self) -> None:
        """Forget everything: states belong to the weights that made them."""
        self._states: OrderedDict[tuple[int, ...], States] = OrderedDict()
        self._lengths: Counter[int] = Counter()
        self._bytes = 0

    def put(self, ids: Sequence[int], states: States) -> None:
        """Keep the states of `ids`; they must not be changed afterwards."""
        key = tuple(ids)
        if key in self._states:
            self._states.move_to_end(key)
            return
        self._states[key] = states
        self._lengths[len(key)] += 1
        self._bytes += _bytes(states)
        while self._bytes > self.max_bytes:
            old, gone = self._states.popitem(last=False)
            self._lengths[len(old)] -= 1
            self._bytes -= _bytes(gone)

    def longest(self, prompt: Sequence[int]) -> tuple[int, States | None]:
        """How many first ids of the prompt are known, and their states. The last id never is: its reading gives the
        distribution of what follows."""
        key = tuple(prompt)
        for length in sorted((n for n, count in self._lengths.items() if count and n < len(key)), reverse=True):
            if (states := self._states.get(key[:length])) is not None:
                self._states.move_to_end(key[:length])
                return length, states
        return 0, None


def _bytes(states: States) -> int:
    return sum(tensor.numel() * tensor.element_size() for pair in states for tensor in pair)
