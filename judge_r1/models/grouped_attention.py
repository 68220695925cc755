"""Attention of one new token per row without copies of keys and values.

In models whose query heads share keys and values (grouped-query attention), transformers repeats both for every query
head when there is a mask. For one new token that copy takes most of the time of a small model on a processor. Here the
query heads of a group stand in the place of query tokens, which gives the same sums. On a processor,
`StepAttention` takes its place.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from judge_r1.models.step_attention import StepAttention

NAME = "sdpa_grouped"
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


@contextmanager
def grouped_heads(model: Any, step: StepAttention | None = None) -> Iterator[None]:
    """Let a model that uses PyTorch's attention use this one, or the given one of a step."""
    if not uses_grouped_heads(model):
        yield
        return
    config, token = model.config.get_text_config(), _STEP.set(step)
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = "sdpa"
        _STEP.reset(token)
