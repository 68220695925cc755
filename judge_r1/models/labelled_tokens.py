"""Leaves tokens without a label out of the end of the last layer, for training on a processor.

After the attention of the last layer, a token matters only if the next one has a label. Most have none: prompts and
observations.
"""

from functools import partial
from typing import Any

import torch
from torch import nn

from judge_r1.models.base import IGNORED


class _Labelled:
    """The tokens of a call whose next token has a label, `[rows, tokens]`; None for a call that reads all of them."""

    tokens: torch.Tensor | None = None

    def find(self, model: Any, arguments: Any, options: dict[str, Any]) -> None:
        """Before a call of the model. TRL's fused LM head reads the labelled tokens alone."""
        labels = options.get("labels") if options.get("fused_lm_head") else None
        self.tokens = None if labels is None else nn.functional.pad(labels[:, 1:] != IGNORED, (0, 1))

    def forward(self, part: Any, hidden: torch.Tensor) -> torch.Tensor:
        """`part`, which reads each token alone, with zeros for the tokens that are left out."""
        whole = type(part).forward
        if self.tokens is None:
            found: torch.Tensor = whole(part, hidden)
            return found
        found = whole(part, hidden[self.tokens])
        return found.new_zeros(*self.tokens.shape, found.shape[-1]).masked_scatter(self.tokens[..., None], found)


def skip_unlabelled_tokens(model: Any) -> bool:
    """Let calls with TRL's fused LM head compute the output projection and the MLP of the last layer for labelled
    tokens alone. Log-probabilities and gradients stay equal up to rounding. Returns whether the model has such parts.

    A mixture of experts is left alone, because its auxiliary loss counts all tokens."""
    layers = getattr(model.get_decoder(), "layers", None)
    if not layers or hasattr(model.config.get_text_config(), "output_router_logits"):
        return False
    labelled, layer = _Labelled(), layers[-1]
    parts: list[Any] = [getattr(getattr(layer, "self_attn", None), "o_proj", None), getattr(layer, "mlp", None)]
    parts = [part for part in parts if type(part) is nn.Linear or type(part).__name__.endswith("MLP")]
    for part in parts:
        part.forward = partial(labelled.forward, part)
    model.register_forward_pre_hook(labelled.find, with_kwargs=True)
    return bool(parts)
