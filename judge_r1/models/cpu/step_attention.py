"""Attention of one new token per row, which takes most of the time of a small model on a processor.

In models whose query heads share keys and values (grouped-query attention), transformers repeats both for every query
head when there is a mask. Here the query heads of a group stand in the place of query tokens, which gives the same sums
without copies.

On a processor the time then goes into reading keys and values from memory. `StepAttention` reads a text that several
rows begin with once for all of them, and the rest in one pass over a contiguous tensor: spare columns are cheaper to
read than to leave out.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from judge_r1.models.cpu.packed_attention import using_attention
from judge_r1.models.kv_cache import PreallocatedLayer, States

NAME = "sdpa_grouped"


class SharedTexts:
    """The states of texts that rows begin with, by layer `[texts, heads, longest, size]`, padded on the left.

    `mask`, [texts, longest], is 1 on the states.
    """

    def __init__(self, texts: Sequence[tuple[int, ...]], states: States, mask: torch.Tensor) -> None:
        self.texts, self.mask = list(texts), mask
        self.layers = [(keys.contiguous(), values.contiguous()) for keys, values in states]
        self._places: _Places | None = None

    def places(self, text_of: Sequence[int | None]) -> "_Places":
        """Where the rows of each text stand. Most steps have the rows of the one before."""
        if self._places is None or self._places.text_of != text_of:
            self._places = _Places(self, list(text_of))
        return self._places

    def text_of(self, prompt: Sequence[int], known: int) -> int | None:
        """The text that the prompt begins with, if it is among the `known` first ids."""
        for number, text in enumerate(self.texts):
            if len(text) <= known and tuple(prompt[: len(text)]) == text:
                return number
        return None

    def states(self, text: int) -> States:
        """Views of the states of one text."""
        length = len(self.texts[text])
        return [(keys[text, :, -length:], values[text, :, -length:]) for keys, values in self.layers]


class _Places:
    """Maps between rows and the rows of each text."""

    def __init__(self, shared: SharedTexts, text_of: list[int | None]) -> None:
        self.text_of = text_of
        rows_of: list[list[int]] = [[] for _ in shared.texts]
        slot = [0] * len(text_of)
        for row, text in enumerate(text_of):
            if text is not None:
                slot[row] = len(rows_of[text])
                rows_of[text].append(row)
        self._slots, device = max(map(len, rows_of)), shared.mask.device
        # Filled up with row 0, whose results nobody reads.
        self._row_at = torch.tensor([rows + [0] * (self._slots - len(rows)) for rows in rows_of], device=device)
        self._text, self._slot_of = torch.tensor(
            [[text or 0, at] for text, at in zip(text_of, slot, strict=True)], device=device
        ).T
        none = torch.tensor([[text is None] for text in text_of], device=device)
        self._without_text = none[:, :, None, None] if None in text_of else None
        self.bias = torch.zeros(len(text_of), shared.mask.shape[1], device=device).masked_fill_(
            none | (shared.mask == 0)[self._text], -torch.inf
        )

    def by_text(self, x: torch.Tensor) -> torch.Tensor:
        """`[rows, groups, shared, n]` to `[texts, groups, slots * shared, n]`."""
        return x[self._row_at].transpose(1, 2).flatten(2, 3)

    def by_row(self, x: torch.Tensor, shared: int) -> torch.Tensor:
        """The inverse, with the numbers of some text for a row without one."""
        return x.view(*x.shape[:2], self._slots, shared, x.shape[3])[self._text, :, self._slot_of]

    def zeroed(self, x: torch.Tensor) -> torch.Tensor:
        """`x` by row, 0 for rows without a text."""
        return x if self._without_text is None else x.masked_fill(self._without_text, 0.0)


class StepAttention:
    """The attention of one step, in which each row adds a state to its layers.

    `mask`, [rows, columns and the new one], is 1 on the row's states in the layers. `text_of` are the shared texts that
    the rows begin with.
    """

    def __init__(
        self,
        layers: Sequence[PreallocatedLayer],
        mask: torch.Tensor,
        shared: SharedTexts | None,
        text_of: Sequence[int | None],
    ) -> None:
        self.layers, self._shared = layers, shared
        for layer in layers:
            layer.reserve(right=1)
        rows, (start, columns) = len(mask), layers[0].allocated_columns
        bias = torch.full((rows, columns), -torch.inf, device=mask.device)
        bias[:, start : start + mask.shape[1]].masked_fill_(mask == 1, 0.0)
        if shared is not None:
            self._places = shared.places(text_of)
            bias = torch.cat([self._places.bias, bias], dim=1)
        self._bias = bias[:, None, None]

    def attend(self, layer: int, query: torch.Tensor, scaling: float) -> torch.Tensor:
        """`query`, [rows, heads, 1, size], to [rows, 1, heads, size]. The layer holds the states of the new tokens."""
        rows, heads, _, size = query.shape
        keys, values = self.layers[layer].allocated(rows)
        groups = keys.shape[1]
        grouped = query.reshape(rows, groups, heads // groups, size)
        scores = _product(grouped, keys.transpose(2, 3))
        if self._shared is not None:
            shared_keys, shared_values = self._shared.layers[layer]
            over_texts = _product(self._places.by_text(grouped), shared_keys.transpose(2, 3))
            scores = torch.cat([self._places.by_row(over_texts, heads // groups), scores], dim=3)
        weights = torch.softmax(torch.add(self._bias, scores, alpha=scaling), dim=3).to(values.dtype)
        own = _product(weights[..., weights.shape[3] - keys.shape[2] :], values)
        if self._shared is not None:
            over_texts = _product(self._places.by_text(weights[..., : shared_values.shape[2]]), shared_values)
            own += self._places.zeroed(self._places.by_row(over_texts, heads // groups))
        return own.reshape(rows, 1, heads, size)


def _product(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """`one @ other`, which would copy tensors whose rows are not adjacent."""
    return torch.bmm(one.flatten(0, 1), other.flatten(0, 1)).view(*one.shape[:3], other.shape[3])


_STEP: ContextVar[StepAttention | None] = ContextVar("attention of the running step", default=None)


def grouped_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """An attention function of transformers: query `[rows, heads, tokens, size]` to `[rows, tokens, heads, size]`."""
    rows, heads, tokens, size = query.shape
    if (step := _STEP.get()) is not None:
        return step.attend(module.layer_idx, query, size**-0.5 if scaling is None else scaling), None
    shared = heads // key.shape[1]
    if tokens != 1 or shared == 1 or dropout or (attention_mask is not None and attention_mask.shape[1] != 1):
        repeated: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout, scaling, **options
        )
        return repeated
    # A view: heads that share keys and values stand one after the other.
    grouped = query.view(rows, heads // shared, shared, size)
    out = scaled_dot_product_attention(grouped, key, value, attn_mask=attention_mask, scale=scaling)
    return out.reshape(rows, 1, heads, size), None


def _mask(*args: Any, **options: Any) -> torch.Tensor | None:
    """The mask of a step is in its `StepAttention`."""
    mask: torch.Tensor | None = sdpa_mask(*args, **options) if _STEP.get() is None else None
    return mask


AttentionInterface.register(NAME, grouped_attention)
AttentionMaskInterface.register(NAME, _mask)


def uses_grouped_heads(model: Any) -> bool:
    """Whether the model uses PyTorch's attention, which this one can stand in for."""
    return bool(model.config.get_text_config()._attn_implementation == "sdpa")


def grouped_heads(model: Any, step: StepAttention | None = None) -> AbstractContextManager[None]:
    """Let a model that uses PyTorch's attention use this one, or the given one of a step."""
    return using_attention(model, NAME, _STEP, step) if uses_grouped_heads(model) else nullcontext()
