"""Log-probabilities of labels on a processor, in blocks of few tokens.

TRL's function for them is written for GPUs. Without Triton it makes a dozen copies of the logits of 4,096 tokens, which
do not fit in the cache of a processor and take as long as the products.
"""

from typing import Any

import torch
from torch.autograd.function import once_differentiable
from trl.kernels import ChunkedLogProbFunction
from trl.trainer import utils

_BLOCK = 256
"""Tokens whose logits are in memory."""
_MORE = ("entropy", "is_top1")
"""Outputs beside the log-probabilities."""


class _LabelLogprobs(torch.autograd.Function):
    """Log-probability of each label, entropy, and whether the label is the most likely id.

    `hidden` is [tokens, size], `weight` [vocabulary, size], `labels` [tokens]. Equal to TRL's up to rounding.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, labels: torch.Tensor, scale: float
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        ctx.set_materialize_grads(False)
        log_z, entropy, own = hidden.new_empty(3, len(hidden))
        top = torch.empty_like(labels)
        for rows in _blocks(len(hidden)):
            logits = _logits(hidden[rows], weight, scale)
            own[rows] = logits.gather(1, labels[rows, None])[:, 0]
            highest, top[rows] = logits.max(1)
            exponentials = logits.sub_(highest[:, None]).exp()
            sums = exponentials.sum(1)
            entropy[rows] = sums.log() - exponentials.mul_(logits).sum(1) / sums
            log_z[rows] = highest + sums.log()
        ctx.save_for_backward(hidden, weight, labels, log_z, entropy)
        ctx.scale = scale
        found = own - log_z, entropy, top == labels
        ctx.mark_non_differentiable(found[2])
        return found

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, of_logprobs: torch.Tensor | None, of_entropy: torch.Tensor | None, _: None
    ) -> tuple[torch.Tensor, torch.Tensor | None, None, None]:
        hidden, weight, labels, log_z, entropy = ctx.saved_tensors
        of_own = torch.zeros_like(log_z) if of_logprobs is None else of_logprobs
        of_hidden = torch.empty_like(hidden)
        of_weight = torch.zeros_like(weight) if ctx.needs_input_grad[1] else None
        for rows in _blocks(len(hidden)):
            # d log p(label) / d logit_j = [j = label] - p_j, and d entropy / d logit_j = -p_j (log p_j + entropy)
            logprobs = _logits(hidden[rows], weight, ctx.scale).sub_(log_z[rows, None])
            if of_entropy is None:  # it is logged alone
                gradient = logprobs.exp_().mul_(-of_own[rows, None])
            else:
                probabilities = logprobs.exp()
                both = logprobs.add_(entropy[rows, None]).mul_(of_entropy[rows, None]).add_(of_own[rows, None])
                gradient = both.mul_(probabilities).neg_()
            gradient.scatter_add_(1, labels[rows, None], of_own[rows, None])
            if ctx.scale != 1:
                gradient.mul_(ctx.scale)
            torch.mm(gradient, weight, out=of_hidden[rows])
            if of_weight is not None:
                of_weight.addmm_(gradient.t(), hidden[rows])
        return of_hidden, of_weight, None, None


def _blocks(tokens: int) -> list[slice]:
    return [slice(start, start + _BLOCK) for start in range(0, tokens, _BLOCK)]


def _logits(hidden: torch.Tensor, weight: torch.Tensor, scale: float) -> torch.Tensor:
    logits = hidden @ weight.t()
    return logits if scale == 1 else logits.mul_(scale)


class _OnProcessors:
    """Stands in for TRL's function."""

    @staticmethod
    def apply(
        hidden: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        labels: torch.Tensor,
        temperature: float,
        chunk_size: int,
        softcap: float | None = None,
        logit_scale: float = 1.0,
        outputs: tuple[str, ...] = (),
    ) -> tuple[torch.Tensor | None, ...]:
        plain = bias is None and softcap is None and not hasattr(weight, "ds_id")  # DeepSpeed gathers its weights
        float32 = hidden.dtype == weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
        if not (plain and float32 and hidden.device.type == "cpu" and {"log_probs", *_MORE}.issuperset(outputs)):
            found: tuple[torch.Tensor | None, ...] = ChunkedLogProbFunction.apply(
                hidden, weight, bias, labels, temperature, chunk_size, softcap, logit_scale, outputs
            )
            return found
        scale = logit_scale / temperature
        logprobs, *more = _LabelLogprobs.apply(hidden, weight, labels, scale)  # type: ignore[no-untyped-call]
        entropy, is_top1 = (part if name in outputs else None for part, name in zip(more, _MORE, strict=True))
        return logprobs, entropy, None, None, is_top1


def score_in_blocks() -> None:
    """Let TRL's fused LM head use this function on processors."""
    utils._ChunkedLogProbFunction = _OnProcessors
