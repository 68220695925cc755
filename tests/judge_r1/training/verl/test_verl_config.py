"""Every key that we set exists in the installed verl and has the value of the recipe."""

import pytest
from verl_factories import compose, keys_of

from judge_r1.core.errors import JudgeError
from judge_r1.training.recipe import Recipe


def test_keys_compose_and_validate(recipe: Recipe) -> None:
    config = compose(keys_of(recipe))
    actor = config.actor_rollout_ref.actor
    assert config.data.train_files == "/runs/it's a=b/train.parquet"
    assert config.actor_rollout_ref.rollout.n == 4
    assert actor.ppo_mini_batch_size == 2
    assert actor.optim.lr == 1e-3
    assert (actor.use_kl_loss, actor.kl_loss_coef, actor.kl_loss_type) == (True, 0.001, "low_var_kl")
    assert (actor.optim.lr_warmup_steps, actor.optim.lr_warmup_steps_ratio) == (1, 0.0)  # 0.285 of 2 steps, rounded
    # the longest episode: 3 turns of 32 and 2 observations of 40 tokens
    assert config.data.max_response_length == config.actor_rollout_ref.rollout.response_length == 176


def test_accelerator_keys_compose(recipe: Recipe) -> None:
    config = compose(keys_of(recipe, cpu=False, gpus=2))
    assert config.actor_rollout_ref.rollout.name == "vllm"
    assert config.trainer.n_gpus_per_node == 2
    assert config.actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu == 4


def test_no_kl_needs_no_reference_model(recipe: Recipe) -> None:
    from verl.trainer.ppo.utils import need_reference_policy

    grpo = recipe.grpo.model_copy(update={"kl": 0.0})
    assert not need_reference_policy(compose(keys_of(recipe.model_copy(update={"grpo": grpo}))))
    assert need_reference_policy(compose(keys_of(recipe)))


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("actor_rollout_ref.rollout.temprature=1.0", "temprature"),
        ("custom_reward.path=x", "custom_reward"),
        ("+actor_rollout_ref.actor.fsdp_config.mixed_precisoin.param_dtype=fp32", "mixed_precisoin"),
        ("+actor_rollout_ref.actor.kl_los_coef=1", "kl_los_coef"),
    ],
)
def test_an_unknown_key_fails(recipe: Recipe, wrong: str, named: str) -> None:
    with pytest.raises(Exception, match=named):
        compose([*keys_of(recipe), wrong])


def test_the_reward_function_is_compute_score(recipe: Recipe) -> None:
    from verl.trainer.ppo.reward import get_custom_reward_fn

    function = get_custom_reward_fn(compose(keys_of(recipe)))
    breakdown = {"r": 0.5, "R1": 2.0}
    score = function(data_source="x", solution_str="", ground_truth="", extra_info={"reward_breakdown": breakdown})
    assert score == {"score": 0.5, "acc": 1.0, "r": 0.5, "R1": 2.0}


def test_batches_that_do_not_divide_are_refused(recipe: Recipe) -> None:
    three = recipe.grpo.model_copy(update={"pairs_per_step": 3, "updates_per_step": 2})
    with pytest.raises(JudgeError, match="on verl, which updates by whole groups"):
        keys_of(recipe.model_copy(update={"grpo": three}))
    with pytest.raises(JudgeError, match="do not divide among 3 accelerators"):
        keys_of(recipe, cpu=False, gpus=3)
