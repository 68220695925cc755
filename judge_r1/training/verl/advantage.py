"""GRPO's group-relative advantage (Eq. 4) without infrastructure failures.

verl's estimator would count a failed episode as reward 0 and shift the mean and deviation of its group.
verl's processes load this module through VERL_USE_EXTERNAL_MODULES=judge_r1.training.verl.advantage.
"""

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, register_adv_est

ESTIMATOR = "judge_r1_grpo"
EPSILON = 1e-4
"""Added to a group's standard deviation. This is TRL's fixed value, so both engines compute the same update. verl's
default is 1e-6."""


@register_adv_est(ESTIMATOR)  # type: ignore[untyped-decorator]
def group_advantage(
    token_level_rewards: torch.Tensor,
    response_mask: torch.Tensor,
    index: np.ndarray[Any, Any],
    config: Any = None,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(r - mean) / (std + EPSILON) over the episodes of a group that have sampled tokens and a finite reward, by verl's
    function.

    Args:
        token_level_rewards: [episodes, tokens].
        response_mask: [episodes, tokens], 1 on sampled tokens. All 0 for infrastructure failures and verl's padding.
        index: [episodes], the group of each episode.

    Returns advantages and returns (equal), [episodes, tokens]. All other episodes get 0, and so do those of a group
    with equal rewards: the float32 mean of equal numbers often differs from them.

    Raises:
        RuntimeError: No episode of the batch has sampled tokens and a finite reward.
    """
    scores = token_level_rewards.sum(-1)
    scored = ((response_mask.sum(-1) > 0) & scores.isfinite()).numpy()
    if not scored.any():
        raise RuntimeError(
            "every episode of this batch failed in generation or search "
            "(see the reasons above in this log, and `ended` in the run's traces)"
        )
    rewards = defaultdict[Any, set[float]](set)
    for name, score in zip(index[scored], scores[scored].tolist(), strict=True):
        rewards[name].add(score)
    # With one episode in a group, verl's advantage is the reward itself; here it is 0.
    varied = np.array([len(rewards.get(name, ())) > 1 for name in index])
    rows = torch.from_numpy(np.flatnonzero(varied & scored))
    advantages = torch.zeros_like(token_level_rewards)
    if len(rows):
        by_std = True if config is None else bool(config.get("norm_adv_by_std_in_grpo", True))
        advantages[rows], _returns = compute_grpo_outcome_advantage(
            token_level_rewards=token_level_rewards[rows],
            response_mask=response_mask[rows],
            index=index[rows.numpy()],
            epsilon=EPSILON,
            norm_adv_by_std_in_grpo=by_std,
        )
    return advantages, advantages
