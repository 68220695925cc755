"""Attention for texts that begin like the first one, all in one row, so that no beginning is computed twice.

    positions      0 1 2 3 4 5   3 4   2 3
    texts          a b c d e f   g h   i j     are abcdef, abcgh and abij

A part attends to the first ids of the row, up to its own first position, and to itself. The first text may be one part
or several. Query heads that share keys and values stand in the place of query tokens, so that no state is copied.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from transformers import AttentionInterface, AttentionMaskInterface

from judge_r1.models.cpu.packed_attention import has_plain_layers, using_attention

T = TypeVar("T")
NAME = "branches"
BLOCK = 128
"""Tokens whose scores are computed at a time: they stay in the cache of a processor, and few later ids are scored."""


@dataclass(frozen=True)
class _Block:
    """The tokens `begin` to `end` of a row. `bias`, [tokens, shared + tokens], is 0 where they attend to the first
    `shared` tokens of the row and to each other, else minus infinity."""

    begin: int
    end: int
    shared: int
    bias: torch.Tensor


_BLOCKS: ContextVar[Sequence[_Block]] = ContextVar("blocks of the row that is read")


def can_branch(model: Any) -> bool:
    """Whether the model can read rows with branches: its attention is PyTorch's, and all that its layers carry from one
    token to the next are the keys and values of whole texts."""
    attention = model.config.get_text_config()._attn_implementation
    return bool(model._supports_attention_backend and attention == "sdpa") and has_plain_layers(model)


def branching_row(model: Any, parts: Sequence[tuple[int, int]]) -> AbstractContextManager[None]:
    """Let a model that `can_branch` read a row of these parts, each (first position, number of tokens)."""
    return using_attention(model, NAME, _BLOCKS, list(_blocks(parts, model.dtype, model.device)))


def grouped(items: Sequence[T], length: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """The items in order, as many at a time as have the length `most` together, but at least one."""
    group: list[T] = []
    for item in items:
        if group and sum(map(length, group)) + length(item) > most:
            yield group
            group = []
        group.append(item)
    if group:
        yield group


def _blocks(parts: Sequence[tuple[int, int]], dtype: torch.dtype, device: torch.device) -> Iterator[_Block]:
    pieces = [
        (position, min(BLOCK, first + length - position))
        for first, length in parts[:1]
        for position in range(first, first + length, BLOCK)
    ]
    begin = 0
    for group in grouped([*pieces, *parts[1:]], lambda part: part[1], BLOCK):
        tokens, shared, at = sum(length for _, length in group), max(first for first, _ in group), 0
        bias = torch.full((tokens, shared + tokens), -torch.inf, dtype=dtype)
        for first, length in group:
            rows = bias[at : at + length]
            rows[:, :first] = 0
            rows[:, shared + at : shared + at + length].triu_(1)
            at += length
        yield _Block(begin, begin + tokens, shared, bias.to(device))
        begin += tokens


def branch_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """An attention function of transformers: query `[1, heads, tokens, size]` to `[1, tokens, heads, size]`."""
    groups, size = key.shape[1], query.shape[3]
    scaled = query[0] * (size**-0.5 if scaling is None else scaling)
    queries, keys, values = scaled.view(groups, -1, *scaled.shape[1:]), key[0].transpose(1, 2), value[0]
    outputs: list[torch.Tensor] = []
    for block in _BLOCKS.get():
        own, shared = slice(block.begin, block.end), block.shared
        asked = queries[:, :, own].flatten(1, 2)
        scores = torch.cat((asked @ keys[:, :, :shared], asked @ keys[:, :, own]), 2)
        weights = scores.view(groups, -1, *block.bias.shape).add_(block.bias).softmax(3).flatten(1, 2)
        found = weights[..., :shared] @ values[:, :shared] + weights[..., shared:] @ values[:, own]
        outputs.append(found.view(-1, len(block.bias), size))
    return torch.cat(outputs, 1).transpose(0, 1)[None], None


AttentionInterface.register(NAME, branch_attention)
# None: the blocks have the masks.
AttentionMaskInterface.register(NAME, lambda *args, **kwargs: None)
