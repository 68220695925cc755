"""Samples token ids from logits, and checks when a request is complete."""

from collections.abc import Callable, Sequence

import torch

from judge_r1.models.base import GenerateRequest


def uniform_noise(seed: int, count: int) -> torch.Tensor:
    """`count` numbers in [0, 1), one for each id to sample. A larger count continues the same sequence."""
    generator = torch.Generator().manual_seed(seed % 2**63)
    # On the processor, so that a seed gives the same samples on every device.
    return torch.rand(count, dtype=torch.float64, generator=generator, device="cpu")


def sample_tokens(logits: torch.Tensor, temperature: float, noise: torch.Tensor) -> tuple[list[int], list[float]]:
    """Samples from softmax(logits / temperature).

    Args:
        logits: [rows, vocabulary].
        temperature: 0 takes the most likely id.
        noise: [rows, 1], in [0, 1): a row's sample is the id at which its cumulative probability passes the noise.

    Returns:
        The ids and their log-probabilities under that distribution.
    """
    log_probs = torch.log_softmax(logits / temperature if temperature else logits, dim=-1)
    if temperature:
        # In float64: over 100,000 ids, sums in float32 lose the small probabilities.
        sums = log_probs.double().exp().cumsum(-1)
        total = sums[:, -1:].contiguous()
        # `right` passes over ids of probability 0 at the start, also for a noise of 0.
        ids = torch.searchsorted(sums, noise * total, right=True)
        ids = torch.minimum(ids, torch.searchsorted(sums, total))  # no id of probability 0 at the end
    else:
        ids = log_probs.argmax(-1, keepdim=True)
    return ids[:, 0].tolist(), log_probs.gather(1, ids)[:, 0].tolist()


class StopChecker:
    """Checks when a request is complete. `decode` turns ids into text; `eos_ids` stop every request."""

    def __init__(self, decode: Callable[[Sequence[int]], str], eos_ids: frozenset[int]) -> None:
        self.decode, self.eos_ids = decode, eos_ids
        self._text_of: dict[int, str] = {}

    def at_eos(self, request: GenerateRequest, token: int) -> bool:
        return token in self.eos_ids or token in request.stop_ids

    def done(self, request: GenerateRequest, ids: Sequence[int]) -> bool:
        """Whether the last of the sampled ids completes the request."""
        ended = self.at_eos(request, ids[-1]) or len(ids) >= request.max_tokens
        return ended or (bool(request.stop) and self._at_stop_string(request, ids))

    def _at_stop_string(self, request: GenerateRequest, ids: Sequence[int]) -> bool:
        """Only an id that writes the last character of a stop string, or part of a character, can complete it. Each
        character takes one id at most, so the last ids are enough."""
        last = ids[-1]
        if last not in self._text_of:
            self._text_of[last] = self.decode([last])
        text = self._text_of[last]
        if "\ufffd" not in text and not any(stop[-1] in text for stop in request.stop):
            return False
        tail = self.decode(ids[-max(map(len, request.stop)) :])
        return any(stop in tail for stop in request.stop)
