"""`grpo.verl`: verl's own keys in a recipe. The shipped options compose with the installed verl."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from paths import RECIPES, REPO
from typer.testing import CliRunner
from verl_factories import keys_of

from judge_r1.cli import app
from judge_r1.files.yaml_config import ConfigError
from judge_r1.training.recipe import Recipe, dump_recipe, load_recipe
from judge_r1.training.verl import check_keys
from judge_r1.training.verl.check_keys import BadVerlKey, problem_of

OPTIONS = [path for path in sorted((RECIPES / "options").glob("*.yaml")) if "  verl:" in path.read_text()]
EFFECTS: dict[str, dict[str, Any]] = {
    "token-balanced": {
        "actor_rollout_ref.ref.log_prob_use_dynamic_bsz": True,
        "actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu": 39000,
    },
    "long-context": {"actor_rollout_ref.ref.ulysses_sequence_parallel_size": 4},
    "fp8-rollouts": {"algorithm.rollout_correction.rollout_is": "token"},
}
"""Values that follow from the keys of an option."""
ROW = str(RECIPES / "paper" / "judge-r1-warm-fc-search.yaml")


def load(tmp_path: Path, keys: dict[str, Any], *overrides: str) -> Recipe:
    file = tmp_path / "recipe.yaml"
    file.write_text(yaml.safe_dump({"extends": ROW, "name": "tuned", "grpo": {"verl": keys}}))
    return load_recipe(file, overrides)


def problem(recipe: Recipe, gpus: int = 8) -> str:
    return problem_of(recipe.grpo.verl, keys_of(recipe, cpu=False, gpus=gpus))


@pytest.mark.parametrize("path", OPTIONS, ids=lambda path: path.stem)
def test_an_option_composes_with_verl(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from omegaconf import OmegaConf

    def kept(arguments: Sequence[str] = ()) -> Any:
        composed.append(compose(arguments))
        return composed[-1]

    recipe, compose, composed = load_recipe(path), check_keys.composed, list[Any]()
    monkeypatch.setattr(check_keys, "composed", kept)
    assert problem(recipe) == ""
    config = composed[-1]
    for key, value in (recipe.grpo.verl | EFFECTS.get(path.stem, {})).items():
        assert OmegaConf.select(config, key) == value, key


def test_keys_may_be_nested_or_dotted_and_merge_over_the_extended_file(tmp_path: Path) -> None:
    base = tmp_path / "base.yaml"
    nested = {"actor_rollout_ref": {"rollout": {"gpu_memory_utilization": 0.6, "max_num_seqs": 64}}}
    base.write_text(yaml.safe_dump({"extends": ROW, "grpo": {"verl": nested}}))
    child = tmp_path / "child.yaml"
    dotted = {"actor_rollout_ref.rollout.gpu_memory_utilization": 0.7, "actor_rollout_ref": {"nccl_timeout": 60}}
    child.write_text(yaml.safe_dump({"extends": "base.yaml", "grpo": {"verl": dotted}}))
    recipe = load_recipe(child, ["grpo.verl.actor_rollout_ref.rollout.max_num_seqs=32"])
    assert recipe.grpo.verl == {
        "actor_rollout_ref.rollout.gpu_memory_utilization": 0.7,
        "actor_rollout_ref.rollout.max_num_seqs": 32,
        "actor_rollout_ref.nccl_timeout": 60,
    }
    (tmp_path / "again.yaml").write_text(dump_recipe(recipe))
    assert load_recipe(tmp_path / "again.yaml") == recipe


def test_a_key_of_a_recipe_wins_over_ours(tmp_path: Path) -> None:
    recipe = load(tmp_path, {"actor_rollout_ref.rollout.tensor_model_parallel_size": 4})
    keys = [key for key in keys_of(recipe, cpu=False, gpus=8) if "tensor_model_parallel_size" in key]
    assert keys == ["++actor_rollout_ref.rollout.tensor_model_parallel_size=4"]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("reward.custom_reward_function.path", "x.py", "the reward of the paper"),
        ("custom_reward_function.path", "x.py", "the reward of the paper"),
        ("actor_rollout_ref.rollout.agent.default_agent_loop", "x", "the agent loop runs the episode"),
        ("data.train_files", "x", r"data\.train"),
        ("data.shuffle", True, "seed"),
        ("trainer.total_training_steps", 3, r"set grpo\.steps"),
        ("trainer.default_local_dir", "x", "--out"),
        ("trainer.test_freq", 3, "eval_every"),
        ("trainer.checkpoint_callback_class", "x.Y", "asked to stop"),
        ("actor_rollout_ref.actor.clip_ratio_high", 0.3, r"set grpo\.clip_high"),
        ("actor_rollout_ref.actor.kl_loss_coef", 0.3, r"set grpo\.kl"),
        ("actor_rollout_ref.actor.strategy", "fsdp", "the shards of FSDP2"),
        ("algorithm.adv_estimator", "rloo", "the same objective"),
        ("actor_rollout_ref.actor.use_prefix_grouper", True, "leave out what a search found"),
        ("+ray_kwargs.ray_init.num_gpus", 1, "without +"),
        ("a b.c", 1, "is no key of verl"),
    ],
)
def test_keys_that_promises_depend_on_are_refused(tmp_path: Path, key: str, value: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as error:
        load(tmp_path, {key: value})
    assert str(error.value).startswith(f"{tmp_path / 'recipe.yaml'}: field grpo.verl: ")


def test_sequence_ratios_and_another_loss_mode_exclude_each_other(tmp_path: Path) -> None:
    keys = {"actor_rollout_ref.actor.policy_loss.loss_mode": "clip_cov"}
    assert load(tmp_path, keys).grpo.verl == keys
    with pytest.raises(ConfigError, match=r"ratio: sequence and verl's .*loss_mode exclude each other"):
        load(tmp_path, keys, "grpo.ratio=sequence")


def test_a_key_and_one_below_it_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nccl_timeout is not a section"):
        load(tmp_path, {"actor_rollout_ref.nccl_timeout": 1, "actor_rollout_ref.nccl_timeout.x": 2})


def test_keys_are_for_the_engine_verl(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"set grpo\.engine=verl"):
        load(tmp_path, {"actor_rollout_ref.nccl_timeout": 1}, "grpo.engine=trl")
    assert load(tmp_path, {"actor_rollout_ref.nccl_timeout": 1}, "grpo.engine=trl", "grpo.verl={}").grpo.verl == {}


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("actor_rollout_ref.rollout.gpu_memory_utilisation", 0.6, "did you mean actor_rollout_ref.rollout.gpu_memory_"),
        ("gpu_memory_utilization", 0.6, "did you mean actor_rollout_ref.rollout.gpu_memory_utilization?"),
        ("actor_rollout_ref.rollout.gpu_memory_utilization", "high", "is 0.5 by default and cannot be 'high'"),
        ("actor_rollout_ref.rollout", 3, "actor_rollout_ref.rollout is a section"),
        ("actor_rollout_ref.rollout.pipeline_model_parallel_size", 2, "verl refuses the configuration"),
        ("actor_rollout_ref.rollout.tensor_model_parallel_size", 3, "3 does not divide the 8 GPUs"),
        ("actor_rollout_ref.rollout.tensor_model_parallel_size", 0, "0 does not divide the 8 GPUs"),
        ("actor_rollout_ref.rollout.gpu_memory_utilization", 1.6, "1.6 is no share of a GPU"),
        ("actor_rollout_ref.actor.use_dynamic_bsz", True, "the longest prompt and episode have 19500 tokens"),
        ("actor_rollout_ref.rollout.max_model_len", 8192, "the longest prompt and episode have 19500 tokens"),
        ("algorithm.rollout_correction", {"bypass_mode": True, "rollout_is": "token"}, "have no effect with bypass_mo"),
    ],
)
def test_verl_finds_unknown_keys_and_impossible_values(tmp_path: Path, key: str, value: Any, says: str) -> None:
    assert says in problem(load(tmp_path, {key: value}))


def test_keys_that_verl_takes_beyond_its_files(tmp_path: Path) -> None:
    keys = {
        "actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_dtype": "fp8",  # verl passes it on
        "actor_rollout_ref.rollout.quantization": "fp8",  # in verl's dataclass, in none of its files
        "ray_kwargs.ray_init.log_to_driver": False,
        "actor_rollout_ref.model.override_config.attn_implementation": "sdpa",
        "actor_rollout_ref.rollout.cudagraph_capture_sizes": [1, 2],
        "actor_rollout_ref.rollout.logprobs_mode": None,
    }
    assert problem(load(tmp_path, keys)) == ""


@pytest.mark.parametrize("command", ["train", "train --dry-run", "launch"])
def test_a_wrong_key_is_named_before_anything_is_written(
    command: str, tmp_path: Path, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`train` checks in a process without verl's plug-ins, as users start it. The others check here, to save time."""
    if command != "train":
        monkeypatch.setattr(check_keys, "_problem", lambda request: problem_of(*json.loads(request)))
    load(tmp_path, {"actor_rollout_ref.rollout.gpu_memory_utilisation": 0.6})
    file, out = str(tmp_path / "recipe.yaml"), tmp_path / "run"
    changes = ["start=null", "model=bundled:tiny", f"data.train={data_folder}", "data.dev=null", "eval_every=null"]
    name, *options = command.split()
    options += ["--cluster", str(REPO / "clusters" / "slurm.yaml")] if name == "launch" else []
    result = CliRunner().invoke(app, [name, file, *changes, "--out", str(out), *options])
    assert result.exit_code == 2
    assert f"{file}: recipe tuned: grpo.verl: actor_rollout_ref.rollout.gpu_memory_utilisation" in result.output
    assert "did you mean actor_rollout_ref.rollout.gpu_memory_utilization?" in result.output
    assert not out.exists()


def test_without_verl_a_run_is_refused_and_a_dry_run_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_keys, "can_check", lambda: False)
    recipe = load(tmp_path, {"actor_rollout_ref.nccl_timeout": 60})
    with pytest.raises(BadVerlKey, match=r"pip install 'judge-r1\[verl\]'"):
        check_keys.check_keys(recipe, gpus=8, nodes=1)
    result = CliRunner().invoke(app, ["train", str(tmp_path / "recipe.yaml"), "--dry-run"])
    assert "# grpo.verl is not checked here: that needs verl" in result.output
