"""Leaves tokens without a label out of the end of the last layer, for training on a processor.

After the attention of the last layer, a token matters only if its label has a loss. Most tokens have none: those of
prompts and observations.
"""

from functools import partial
from typing import Any

import torch
from torch import nn

IGNORED = -100


class _Labelled:
    """The tokens of a call whose next token has a label, `[rows, tokens]`; None for a call that reads all of them."""

    tokens: torch.Tensor | None = None

    def find(self, model: Any, arguments: Any, options: dict[str, Any]) -> None:
        """Before a call of the model. TRL's fused LM head reads the labelled tokens alone."""
        labels = options.get("labels") if options.get("fused_lm_head") else None
        self.tokens = None if labels is None else nn.functional.pad(labels[:, 1:] != IGNORED, (0, 1))

    def forward(self, part: Any, hidden: torch.Tensor) -> torch.Tensor:
        """`part`, which reads each token alone, with zeros for the other tokens."""
        if self.tokens is None:
            whole: torch.Tensor = type(part).forward(part, hidden)
            return whole
        found = type(part).forward(part, hidden[self.tokens])
        return found.new_zeros(*self.tokens.shape, found.shape[-1]).masked_scatter(self.tokens[..., None], found)


def skip_unlabelled_tokens(model: Any) -> None:
    """Let calls with TRL's fused LM head compute the output projection and the MLP of the last layer for labelled
    tokens alone. Log-probabilities and gradients stay equal up to rounding. A mixture of experts is left alone, since
    its auxiliary loss counts all tokens."""
    labelled, layer = _Labelled(), model.get_decoder().layers[-1]
    projection, mlp = getattr(getattr(layer, "self_attn", None), "o_proj", None), getattr(layer, "mlp", None)
    parts = [projection] if type(projection) is nn.Linear else []
    parts += [mlp] if type(mlp).__name__.endswith("MLP") else []
    for part in parts:
        part.forward = partial(labelled.forward, part)
    if parts:
        model.register_forward_pre_hook(labelled.find, with_kwargs=True)
