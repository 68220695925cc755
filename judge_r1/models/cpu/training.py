"""Parts of a model that trains on a processor, in a faster form: the mask, the RMS norms and the end of the last layer.

Outputs and gradients stay equal up to rounding. Rows that are padded on the right need no mask, as no token attends to
a later one: padding at the end of a row changes no output of the row. Without a mask PyTorch uses its causal kernel,
which computes half of the scores (on GPUs FlashAttention, where it supports the dtype and the head size), and query
heads that share keys and values need no copies of them. The outputs at the padding differ; they must have no label.
"""

from functools import partial
from typing import Any

import torch
from torch import nn
from torch.autograd.function import once_differentiable

from judge_r1.models.base import IGNORED

CACHES = ("cache", "past_key_values")
"""The argument with the cache: its name from transformers 5.24 on, and before."""


def drop_masks_of_right_padding(model: Any) -> bool:
    """Let the decoder of a causal language model ignore the mask of right-padded rows in passes without a cache.

    Attention other than PyTorch's `sdpa` keeps the mask: FlashAttention uses it to remove the padding. So do models
    in which tokens attend to later ones. Returns whether the mask is dropped."""
    config = model.config.get_text_config()
    if not getattr(config, "is_causal", True) or getattr(config, "use_bidirectional_attention", None):
        return False
    model.get_decoder().register_forward_pre_hook(_without_mask, with_kwargs=True)
    return bool(config._attn_implementation == "sdpa")


def _without_mask(decoder: Any, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]] | None:
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


class _RmsNorm(torch.autograd.Function):
    """y = w x / r with r = sqrt(mean(x²) + eps), over the last dimension of n numbers.

    dx = w g / r - x sum(w g x) / (n r³) and dw = sum over rows of g x / r. Elementwise operations of a small model wait
    for memory: those that autograd derives for a norm read and write its input about fifteen times, these about five.
    """

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
        inverse = x.square().mean(-1, keepdim=True).add_(eps).rsqrt_()
        ctx.save_for_backward(x, weight, inverse)
        return (x * inverse).mul_(weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None, None]:
        (gradient,) = gradients
        x, weight, inverse = ctx.saved_tensors
        product = (gradient * x).flatten(0, -2)
        of_weight = torch.mv(product.t(), inverse.flatten()) if ctx.needs_input_grad[1] else None
        sums = torch.mv(product, weight).view_as(inverse).mul_(inverse**3).div_(-x.shape[-1])
        return (gradient * weight).mul_(inverse).addcmul_(x, sums), of_weight, None


def _normed(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    found: torch.Tensor = _RmsNorm.apply(x, weight, eps)  # type: ignore[no-untyped-call]
    return found


def _norm_without_gradient(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """Equal to transformers' norm bit by bit, in one call."""
    return torch.nn.functional.rms_norm(x, weight.shape, weight, eps)


def _norm_forward(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    if hidden_states.dtype == self.weight.dtype == torch.float32:
        norm = _normed if torch.is_grad_enabled() else _norm_without_gradient
        return norm(hidden_states, self.weight, self.variance_epsilon)
    plain: torch.Tensor = type(self).forward(self, hidden_states)
    return plain


def fuse_norms(model: Any) -> bool:
    """Let the RMSNorms of a float32 model use this gradient. Their values without a gradient stay the same bits.
    Returns whether the model has such norms."""
    norms = [one for one in model.modules() if type(one).__name__.endswith("RMSNorm") and _is_plain_norm(one)]
    for norm in norms:
        norm.forward = partial(_norm_forward, norm)
    return bool(norms)


@torch.no_grad()
def _is_plain_norm(norm: Any) -> bool:
    """Whether the norm is the formula above. Those of some models add 1 to the weight, or have none."""
    weight, eps = getattr(norm, "weight", None), getattr(norm, "variance_epsilon", None)
    if weight is None or eps is None or weight.dtype != torch.float32:
        return False
    row = torch.linspace(-1.0, 2.0, len(weight), device=weight.device)
    return torch.allclose(norm(row[None]), _normed(row[None], weight, eps))


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
    tokens alone. Returns whether the model has such parts.

    After the attention of the last layer, a token matters only if the next one has a label. Most have none: prompts and
    observations.

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
