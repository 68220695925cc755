"""A plain second derivation of GRPO's objective and its options, token by token."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LENGTH = 6
"""Maximum episode length in tokens under the test budget."""
MASK = [[1, 1, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]]
OLD = [[-1.0, -2.0, -9.0, -0.5, -1.5, -0.7], [-0.3, -1.1, -2.2, -9.0, -9.0, -9.0]]
NEW = [[-0.6, -2.4, -1.0, -0.1, -1.45, -0.9], [-0.8, -0.7, -2.25, -3.0, -3.0, -3.0]]
ADVANTAGES = [1.3, -0.8]
CASES: list[dict[str, Any]] = [
    {},
    {"clip_high": 0.45},
    {"ratio": "sequence", "loss": "sequence-mean", "clip": 0.03, "clip_high": 0.04},
    {"loss": "sequence-mean"},
    {"loss": "constant", "advantage_by_std": False},
    {"ratio": "sequence"},
]

FAILED_MASK = [MASK[0], [0] * LENGTH]
"""The second episode is an infrastructure failure: no token of it is in the loss."""


@dataclass(frozen=True)
class Options:
    """Options as in a recipe; `constant` is the maximum episode length."""

    clip: float = 0.2
    clip_high: float | None = None
    ratio: str = "token"
    loss: str = "token-mean"
    constant: int = LENGTH

    @classmethod
    def of(cls, grpo: Mapping[str, Any]) -> "Options":
        """The recipe fields of the loss."""
        return cls(**{key: value for key, value in grpo.items() if key != "advantage_by_std"})


def advantages(rewards: Sequence[float], *, by_std: bool, epsilon: float) -> list[float]:
    """(r - mean) / (s + epsilon) within a group, s with n - 1 degrees of freedom; Dr.GRPO does not divide."""
    mean = sum(rewards) / len(rewards)
    deviation = math.sqrt(sum((r - mean) ** 2 for r in rewards) / (len(rewards) - 1))
    return [(r - mean) / (deviation + epsilon if by_std else 1.0) for r in rewards]


def policy_loss(
    new: Sequence[Sequence[float]],
    old: Sequence[Sequence[float]],
    mask: Sequence[Sequence[int]],
    advantage: Sequence[float],
    options: Options,
) -> float:
    """-J over a batch of episodes: `new` and `old` are log-probabilities, [episode][token]."""
    high = options.clip if options.clip_high is None else options.clip_high
    sums, counts = [], []
    for now, before, in_loss, gain in zip(new, old, mask, advantage, strict=True):
        logs = [n - o for n, o, k in zip(now, before, in_loss, strict=True) if k]
        if options.ratio == "sequence":
            logs = [sum(logs) / len(logs)] * len(logs)
        ratios = [math.exp(log) for log in logs]
        terms = [min(x * gain, min(max(x, 1 - options.clip), 1 + high) * gain) for x in ratios]
        sums.append(sum(terms))
        counts.append(len(terms))
    if options.loss == "token-mean":
        return -sum(sums) / sum(counts)
    if options.loss == "sequence-mean":
        return -sum(s / c for s, c in zip(sums, counts, strict=True)) / len(sums)
    return -sum(sums) / (len(sums) * options.constant)


def loss_with_a_failure(options: Options) -> float:
    """The loss of the first episode beside a failed one. The mean over tokens leaves the failure out; the mean over
    episodes and the constant keep it in the denominator, so one failure of two halves the loss."""
    alone = policy_loss(NEW[:1], OLD[:1], MASK[:1], ADVANTAGES[:1], options)
    return alone if options.loss == "token-mean" else alone / 2
