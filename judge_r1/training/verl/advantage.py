"""GRPO's group-relative advantage (Eq. 4) without infrastructure failures.

verl's estimator would count a failed episode as reward 0 and shift the mean and deviation of its group.
verl's processes load this module through VERL_USE_EXTERNAL_MODULES=judge_r1.training.verl.advantage.
"""

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
    """(r - mean) / (std + EPSILON) over the episodes of a group that have sampled tokens, computed by verl's function.

    Args:
        token_level_rewards: [episodes, tokens].
        response_mask: [episodes, tokens], 1 on sampled tokens. All 0 for infrastructure failures and verl's padding.
        index: [episodes], the group of each episode.

    Returns advantages and returns (equal), [episodes, tokens]. Episodes without sampled tokens, and single episodes
    left in a group, get 0.

    Raises:
        RuntimeError: No episode of the batch has sampled tokens.
    """
    sampled = response_mask.sum(-1) > 0
    if not bool(sampled.any()):
        raise RuntimeError(
            "every episode of this batch failed in generation or search "
            "(see the reasons above in this log, and `ended` in the run's traces)"
        )
    names, counts = np.unique(index[sampled.numpy()], return_counts=True)
    usable = np.isin(index, names[counts > 1]) & sampled.numpy()
    rows = torch.from_numpy(np.flatnonzero(usable))
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
