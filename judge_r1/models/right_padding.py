"""Drops the attention mask of rows that are padded on the right, which causal attention does not need.

No token attends to a later one, so padding at the end of a row changes no output of the row. Without a mask PyTorch
uses its causal kernel, which computes half of the scores (on GPUs FlashAttention, where it supports the dtype and the
head size), and query heads that share keys and values need no copies of them. The outputs at the padding differ; they
must have no label.
"""

from typing import Any

import torch

CACHES = ("cache", "past_key_values")
"""The argument with the cache: its name from transformers 5.24 on, and before."""


def drop_masks_of_right_padding(model: Any) -> bool:
    """Let the decoder of a causal language model ignore the mask of right-padded rows in passes without a cache.

    Attention other than PyTorch's `sdpa` keeps the mask: FlashAttention uses it to remove the padding. So do models
    in which tokens attend to later ones. Returns whether the mask is dropped."""
    config = model.config.get_text_config()
    if not getattr(config, "is_causal", True) or getattr(config, "use_bidirectional_attention", None):
        return False
    model.get_decoder().register_forward_pre_hook(_drop, with_kwargs=True)
    return bool(config._attn_implementation == "sdpa")


def _drop(decoder: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]] | None:
    mask = kwargs.get("attention_mask")
    if (
        torch.is_tensor(mask)
        and mask.dim() == 2
        and all(kwargs.get(name) is None for name in CACHES)
        and decoder.config._attn_implementation == "sdpa"
        and is_right_padded(mask)
    ):
        return args, kwargs | {"attention_mask": None}
    return None


def is_right_padded(mask: torch.Tensor) -> bool:
    """Whether each row of a mask `[rows, tokens]` has ones, at least one, and then zeros."""
    return bool((mask[:, 0] == 1).all() and (mask[:, 1:] <= mask[:, :-1]).all())
