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


def sampler(recipe: Recipe, groups: int) -> Any:
    """The replay buffer that verl builds from our keys."""
    from verl.utils.import_utils import load_extern_type

    config = compose(keys_of(with_options(recipe, dynamic_sampling=True, pairs_per_step=groups)))
    assert (config.algorithm.filter_groups.enable, config.algorithm.filter_groups.metric) == (True, "acc")
    chosen = config.trainer.v1.sampler
    return load_extern_type(chosen.custom_sampler.path, chosen.custom_sampler.name)(
        trainer_mode="sync",
        trainer_config={},
        max_off_policy_threshold=chosen.max_off_policy_threshold,
        max_off_policy_strategy=chosen.max_off_policy_strategy,
        sampler_kwargs=chosen.sampler_kwargs,
        refill_fn=lambda count: count,
    )


def finish(buffer: Any, outcomes: dict[str, float | None]) -> set[str]:
    """Finish groups, given the outcome that all their episodes share, or None. Returns the groups that are replaced."""
    buffer.finished_keys["train"] = set(outcomes)
    buffer._dapo_classification_cache["train"] = dict(outcomes)
    replaced, counts = buffer._dapo_filtered_keys("train")
    assert sum(counts.values()) == len(replaced)
    return set(replaced)


def test_the_sampler_replaces_groups_of_one_outcome_up_to_a_bound(recipe: Recipe) -> None:
    from judge_r1.training.dynamic_sampling import REDRAWS

    buffer = sampler(recipe, 2)
    assert finish(buffer, {"a": 1.0, "b": None, "c": 0.0}) == {"a", "c"}
    more = {f"d{i}": 1.0 for i in range(9)}
    assert len(finish(buffer, more)) == REDRAWS * 2 - 2
    assert finish(buffer, more) == set()
    assert finish(buffer, {"b": None}) == set()


def test_without_dynamic_sampling_verls_default_sampler_runs(recipe: Recipe) -> None:
    config = compose(keys_of(recipe))
    assert not config.algorithm.filter_groups.enable
    assert config.trainer.v1.sampler.custom_sampler.path is None
