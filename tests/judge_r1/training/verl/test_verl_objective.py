"""Every option of the recipe reaches verl's loss and advantage, which equal the plain formulas. test_grpo_options tests
TRL with the same formulas."""

from typing import Any

import numpy as np
import pytest
import torch
from grpo_formulas import (
    ADVANTAGES,
    CASES,
    FAILED_MASK,
    LENGTH,
    MASK,
    NEW,
    OLD,
    Options,
    advantages,
    loss_with_a_failure,
    policy_loss,
)  # fmt: skip
from verl_factories import compose, keys_of

from judge_r1.training.recipe import Recipe
from judge_r1.training.stage_config import LoraConfig


def with_options(recipe: Recipe, **grpo: Any) -> Recipe:
    return recipe.model_copy(update={"grpo": recipe.grpo.model_copy(update=grpo)})


def loss_of(recipe: Recipe, grpo: dict[str, Any], in_loss: list[list[int]]) -> float:
    """verl's loss of the two episodes, with `in_loss` as their mask."""
    from verl.trainer.ppo.core_algos import get_policy_loss_fn
    from verl.utils.config import omega_conf_to_dataclass

    actor = omega_conf_to_dataclass(compose(keys_of(with_options(recipe, **grpo))).actor_rollout_ref.actor)
    if actor.loss_scale_factor is not None:
        assert actor.loss_scale_factor == recipe.episode.effective_budget.episode_tokens
        actor.global_batch_info["loss_scale_factor"] = LENGTH  # verl's worker passes it; here the longest test episode
    actor.global_batch_info["global_batch_size"] = 2  # verl's worker passes the number of episodes of the update
    loss, _ = get_policy_loss_fn(actor.policy_loss.loss_mode)(
        old_log_prob=torch.tensor(OLD),
        log_prob=torch.tensor(NEW),
        advantages=torch.tensor(ADVANTAGES)[:, None].expand(2, LENGTH),
        response_mask=torch.tensor(in_loss),
        loss_agg_mode=actor.loss_agg_mode,
        config=actor,
    )
    return float(loss)


@pytest.mark.parametrize("grpo", CASES, ids=str)
def test_the_loss_of_verl_equals_the_formula(recipe: Recipe, grpo: dict[str, Any]) -> None:
    """A failed episode stays in the denominator of means over episodes."""
    options = Options.of(grpo)
    wanted = [policy_loss(NEW, OLD, MASK, ADVANTAGES, options), loss_with_a_failure(options)]
    assert [loss_of(recipe, grpo, mask) for mask in (MASK, FAILED_MASK)] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("by_std", [True, False])
def test_the_advantage_of_verl_equals_the_formula(recipe: Recipe, by_std: bool) -> None:
    from judge_r1.training.verl.advantage import EPSILON, group_advantage

    config = compose(keys_of(with_options(recipe, advantage_by_std=by_std)))
    scores = [1.0, 0.2, 0.4, 0.0]
    rewards, mask = torch.zeros(4, 3), torch.ones(4, 3)
    rewards[:, -1] = torch.tensor(scores)
    actual, _ = group_advantage(rewards, mask, np.array(list("aaaa"), dtype=object), config=config.algorithm)
    assert actual[:, 0].tolist() == pytest.approx(advantages(scores, by_std=by_std, epsilon=EPSILON), rel=1e-5)


def test_lora_keys_compose(recipe: Recipe) -> None:
    model = compose(keys_of(recipe.model_copy(update={"lora": LoraConfig(rank=4, alpha=8)}))).actor_rollout_ref.model
    assert (model.lora_rank, model.lora_alpha, model.target_modules, model.lora.merge) == (4, 8, "all-linear", True)
    assert compose(keys_of(recipe)).actor_rollout_ref.model.lora_rank == 0
