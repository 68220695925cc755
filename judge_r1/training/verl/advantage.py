"""GRPO's advantage (Eq. 4) with episodes that the infrastructure lost left out of their group.

verl's own estimator would count a lost episode as one that scored 0, and move the mean and the deviation of its group.
Loaded into verl's processes by VERL_USE_EXTERNAL_MODULES=judge_r1.training.verl.advantage.
"""

from typing import Any

import numpy as np
import torch
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, register_adv_est

ESTIMATOR = "judge_r1_grpo"
EPSILON = 1e-4
"""What is added to a group's deviation: TRL's, which cannot be set there, so that one recipe is one update. verl's own
is 1e-6."""


@register_adv_est(ESTIMATOR)  # type: ignore[untyped-decorator]
def group_advantage(
    token_level_rewards: torch.Tensor,
    response_mask: torch.Tensor,
    index: np.ndarray[Any, Any],
    config: Any = None,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(r - mean) / (std + EPSILON) over the episodes of a group that have a sampled token, by verl's own function.

    `token_level_rewards` and `response_mask` are [episodes, tokens], `index` names each episode's group. An episode
    without a sampled token (lost, or verl's padding) gets 0, and so does one that is left alone in its group. Errors:
    RuntimeError if no episode of the batch has one, because then something is broken for all of them.
    """
    played = response_mask.sum(-1) > 0
    if not bool(played.any()):
        raise RuntimeError(
            "no episode of this batch was played to its end: every one failed in generation or search "
            "(the reasons stand above in this log, and as `ended` in the run's traces)"
        )
    names, counts = np.unique(index[played.numpy()], return_counts=True)
    whole = np.isin(index, names[counts > 1]) & played.numpy()
    rows = torch.from_numpy(np.flatnonzero(whole))
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
