"""GRPO's group-relative advantage (Eq. 4) without infrastructure failures.

verl's estimator would count a failed episode as reward 0 and shift the mean and deviation of its group.
verl's processes load this module through VERL_USE_EXTERNAL_MODULES=judge_r1.training.verl.advantage.
"""

from collections import defaultdict
from typing import Any

import numpy as np
import torch
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, register_adv_est

from judge_r1.episode.reward import reward_parts

ESTIMATOR, DECOUPLED = "judge_r1_grpo", "judge_r1_gdpo"
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
    scores, scored = _scores(token_level_rewards, response_mask)
    by_std = True if config is None else bool(config.get("norm_adv_by_std_in_grpo", True))
    advantages = _within_groups(scores, scored, index, by_std=by_std)[:, None] * response_mask
    return advantages, advantages


@register_adv_est(DECOUPLED)  # type: ignore[untyped-decorator]
def decoupled_advantage(
    token_level_rewards: torch.Tensor,
    response_mask: torch.Tensor,
    index: np.ndarray[Any, Any],
    config: Any = None,
    **_: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """GDPO (arXiv 2601.05242) of the parts R1 and R2 of the reward, as TRL computes it: S is the weighted sum of
    `group_advantage` of each part, and the advantage (S - mean) / (std + EPSILON) over the batch's scored episodes.

    Arguments, results and errors are those of `group_advantage`. The weights are `gdpo_reward_weights`. verl's own
    estimator needs fields that its V1 trainer does not hand over, so the parts are read from r (`reward_parts`). Its
    last step is over tokens, where a long episode weighs more.
    """
    scores, scored = _scores(token_level_rewards, response_mask)
    parts = torch.zeros(len(scores), 2)
    parts[scored] = torch.tensor([reward_parts(r) for r in scores[scored].tolist()])
    weights = (config and config.get("gdpo_reward_weights")) or (1.0, 1.0)
    total = sum(
        weight * _within_groups(part, scored, index, by_std=True)
        for weight, part in zip(weights, parts.unbind(1), strict=True)
    )
    advantages = torch.zeros_like(scores)
    if scored.sum() > 1:
        own = total[scored]
        advantages[scored] = (own - own.mean()) / (own.std() + EPSILON)
    tokens = advantages[:, None] * response_mask
    return tokens, tokens


def _scores(token_level_rewards: torch.Tensor, response_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The reward of each episode, and whether it has sampled tokens and a finite reward. Raises: RuntimeError if none
    has."""
    scores = token_level_rewards.sum(-1)
    scored = (response_mask.sum(-1) > 0) & scores.isfinite()
    if not scored.any():
        raise RuntimeError(
            "every episode of this batch failed in generation or search "
            "(see the reasons above in this log, and `ended` in the run's traces)"
        )
    return scores, scored


def _within_groups(
    scores: torch.Tensor, scored: torch.Tensor, index: np.ndarray[Any, Any], *, by_std: bool
) -> torch.Tensor:
    """The advantage of each episode among those of its group that are `scored`, [episodes]."""
    values = defaultdict[Any, set[float]](set)
    for name, score in zip(index[scored.numpy()], scores[scored].tolist(), strict=True):
        values[name].add(score)
    # With one episode in a group, verl's advantage is the reward itself; here it is 0.
    varied = np.array([len(values.get(name, ())) > 1 for name in index])
    rows = torch.from_numpy(np.flatnonzero(varied & scored.numpy()))
    advantages = torch.zeros_like(scores)
    if len(rows):
        found, _returns = compute_grpo_outcome_advantage(
            token_level_rewards=scores[rows, None],
            response_mask=torch.ones(len(rows), 1),
            index=index[rows.numpy()],
            epsilon=EPSILON,
            norm_adv_by_std_in_grpo=by_std,
        )
        advantages[rows] = found[:, 0]
    return advantages
