"""What the local backends have in common: how an id is drawn, and a key-value cache that grows without copies."""

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

_SPARE_COLUMNS = 128


def uniform_noise(seed: int, count: int) -> torch.Tensor:
    """`count` numbers in [0, 1), one for each id that may be drawn: the same for a seed, whatever runs beside it."""
    return torch.rand(count, dtype=torch.float64, generator=torch.Generator().manual_seed(seed % 2**63))


def sample_tokens(logits: torch.Tensor, temperature: float, chances: torch.Tensor) -> tuple[list[int], list[float]]:
    """Ids drawn from softmax(logits / temperature), [rows, vocabulary], with their log-probabilities under it: the id
    at which the summed probabilities pass a row's chance, [rows, 1]. Temperature 0 takes the likeliest."""
    log_probs = torch.log_softmax(logits / temperature if temperature else logits, dim=-1)
    if temperature:
        sums = log_probs.double().exp().cumsum(-1)
        total = sums[:, -1:].contiguous()
        ids = torch.searchsorted(sums, chances * total, right=True)
        ids = torch.minimum(ids, torch.searchsorted(sums, total))  # no id of probability 0 at the end
    else:
        ids = log_probs.argmax(-1, keepdim=True)
    return ids[:, 0].tolist(), log_probs.gather(1, ids)[:, 0].tolist()


def preallocated_cache(config: Any) -> DynamicCache:
    """An empty cache for a model of this configuration, of `RoomyLayer`s where plain growing layers would stand."""
    cache = DynamicCache(config=config)
    cache.layers = [PreallocatedLayer() if type(old) is DynamicLayer else old for old in cache.layers]
    return cache


class PreallocatedLayer(DynamicLayer):  # type: ignore[misc]
    """A growing layer with room to spare: a step writes its own column, where the plain one copies all columns."""

    keys: torch.Tensor
    values: torch.Tensor
    room: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        length = self.get_seq_length()
        needed = length + key_states.shape[-2]
        if self.room is None or needed > self.room[0].shape[-2]:
            shape = (*key_states.shape[:-2], needed + _SPARE_COLUMNS, key_states.shape[-1])
            grown = key_states.new_empty(shape), value_states.new_empty(shape)
            for new, old in zip(grown, (self.keys, self.values), strict=True):
                if length:
                    new[..., :length, :] = old
            self.room = grown
        for room, states in zip(self.room, (key_states, value_states), strict=True):
            room[..., length:needed, :] = states
        self.keys, self.values = (room[..., :needed, :] for room in self.room)
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        self.room = None
        super().batch_select_indices(indices)
