"""Attention for texts that stand one after the other in one row, without padding and without a mask.

A text starts where the position ids restart at 0. A part that starts at a later position begins as the text before it,
which may itself begin as an earlier one: episodes of a group share their prompt so, and what they say alike, and each
layer computes it once.

    position ids   0 1 2 3 4 5   3 4   4   0 1 2 3
    texts          a b c d e f   g h   i   j k l m     are abcdef, abcgh, abcgi and jklm

Each part is one call of PyTorch's causal kernel, which computes half of the scores, or, if most of its text stands
before it, a call with a mask of its own. A mask for the whole row would be quadratic in the length of the row.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.nn.functional import pad
from transformers import AttentionInterface, AttentionMaskInterface, DynamicCache
from transformers.cache_utils import DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward

NAME = "sdpa_packed"


class NoPositions(ValueError):
    """The model does not pass its position ids to its attention, so packed texts would see each other."""


def packed_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    *,
    position_ids: torch.Tensor | None = None,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """An attention function of transformers: query `[1, heads, tokens, size]` to `[1, tokens, heads, size]`.

    Raises:
        NoPositions: The layer gives no position ids.
    """
    if position_ids is None:
        raise NoPositions
    parts = parts_of(position_ids)
    lengths = [length for _, length in parts]
    outputs: list[torch.Tensor] = []
    text: Sequence[torch.Tensor] = ()
    for (start, length), queries, *states in zip(
        parts, *(torch.split(x, lengths, dim=2) for x in (query, key, value)), strict=True
    ):
        if start:
            states = [torch.cat((before[:, :, :start], rest), 2) for before, rest in zip(text, states, strict=True)]
        text = states
        # Zeros as the queries of a short beginning let the rest of the text take the causal kernel.
        zeros = start if start < length else 0
        mask = _mask(position_ids, start - zeros, zeros + length, sliding_window, query)
        found, _ = sdpa_attention_forward(
            module, pad(queries, (0, 0, zeros, 0)), *states, mask, dropout, scaling, is_causal=mask is None, **options
        )
        outputs.append(found[:, zeros:])
    return torch.cat(outputs, dim=1), None


def parts_of(position_ids: torch.Tensor) -> list[tuple[int, int]]:
    """(first position, number of tokens) of each part of a packed row, whose position ids are `[1, tokens]`.

    Raises:
        ValueError: There are several rows, or a part starts after the end of the text before it.
    """
    if position_ids.shape[0] != 1:
        raise ValueError(f"packed texts stand in one row, not in {position_ids.shape[0]}")
    positions = position_ids[0]
    starts = [0, *(torch.nonzero(positions.diff() != 1)[:, 0] + 1).tolist()]
    parts = [
        (int(positions[start]), end - start) for start, end in zip(starts, [*starts[1:], len(positions)], strict=True)
    ]
    text = 0
    for start, length in parts:
        if start > text:
            raise ValueError(f"a part of a packed row starts at position {start}, after a text of {text} tokens")
        text = start + length
    return parts


def _mask(
    position_ids: torch.Tensor, start: int, length: int, sliding_window: int | None, query: torch.Tensor
) -> torch.Tensor | None:
    """What is added to the scores of `length` queries from position `start` on, [1, 1, length, start + length]. None
    for a whole text within the sliding window of its layer, which needs no mask."""
    if not start and (sliding_window is None or length <= sliding_window):
        return None
    # All layers of a row get the same tensor of position ids, and share its masks.
    masks, key = vars(position_ids).setdefault("masks", {}), (start, length, sliding_window)
    if key not in masks:
        allowed = torch.ones(1, 1, length, start + length, dtype=torch.bool, device=query.device).tril(start)
        allowed = allowed if sliding_window is None else allowed.triu(start + 1 - sliding_window)
        # Not as booleans, which PyTorch turns into numbers in each layer.
        masks[key] = torch.zeros_like(allowed, dtype=query.dtype).masked_fill_(~allowed, -torch.inf)
    mask: torch.Tensor = masks[key]
    return mask


AttentionInterface.register(NAME, packed_attention)
# None: each text is a causal call of its own, and a mask of the row would be quadratic.
AttentionMaskInterface.register(NAME, lambda *args, **kwargs: None)


def has_plain_layers(model: Any) -> bool:
    """Whether all layers keep keys and values alone. Another state would carry one text of a row into the next."""
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=model.config).layers)


@contextmanager
def using_attention(
    model: Any, name: str = NAME, state: ContextVar[Any] | None = None, value: Any = None
) -> Iterator[None]:
    """Let a model that uses PyTorch's attention use the one of this name, by default to read packed rows of one dtype.
    `state` has `value` meanwhile."""
    config, token = model.config.get_text_config(), state.set(value) if state is not None else None
    before, config._attn_implementation = config._attn_implementation, name
    try:
        yield
    finally:
        config._attn_implementation = before
        if state is not None and token is not None:
            state.reset(token)
