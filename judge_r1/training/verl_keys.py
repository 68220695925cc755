"""verl's own keys in a recipe (`grpo.verl`): their form, and the ones that a recipe says in other fields.

Imports no verl: recipes are read where verl is not installed. `check_keys` checks the keys with verl itself.
"""

import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_ACTOR, _ROLLOUT, _MODEL = (f"actor_rollout_ref.{part}" for part in ("actor", "rollout", "model"))
LOSS_MODE = f"{_ACTOR}.policy_loss.loss_mode"
_SAME_OBJECTIVE = "so that both engines optimise the same objective"

_REASONS: dict[str, tuple[str, ...]] = {
    "rows, order and lengths come from data.train, seed and episode": ("data",),
    "set grpo.steps": ("trainer.total_training_steps", "trainer.total_epochs", f"{_ACTOR}.optim.total_training_steps"),
    "checkpoints belong into the run folder: set --out": ("trainer.default_local_dir", "trainer.default_hdfs_dir"),
    "a run resumes from its checkpoints": ("trainer.del_local_ckpt_after_load",),
    "judge-r1 keeps the last two checkpoints and the best one": ("trainer.max_actor_ckpt_to_keep",),
    "set save_every": ("trainer.save_freq",),
    "judge-r1 saves with it when the run is asked to stop": ("trainer.checkpoint_callback_class",),
    "judge-r1 verifies checkpoints and chooses the one to resume from": (
        "trainer.resume_mode", "trainer.resume_from_path",
    ),
    "set eval_every": ("trainer.test_freq", "trainer.val_before_train"),
    "evaluate with judge-r1 eval": ("trainer.val_only",),
    "metrics.jsonl follows verl's log: set trackers to add others": ("trainer.logger",),
    "set --nodes": ("trainer.nnodes",),
    "set --gpus-per-node": ("trainer.n_gpus_per_node",),
    "judge-r1 chooses it by the hardware": ("trainer.device",),
    "the agent loop is written for verl's V1 trainer": ("trainer.use_v1",),
    "episodes are sampled where the model is trained": (
        "actor_rollout_ref.hybrid_engine", f"{_ROLLOUT}.nnodes", f"{_ROLLOUT}.n_gpus_per_node",
    ),
    "a step trains on the episodes that it has sampled": (
        "trainer.v1.trainer_mode", "trainer.v1.sampler.custom_sampler", "trainer.v1.sampler.sampler_kwargs",
    ),
    "the episode computes the reward of the paper": (
        "reward.custom_reward_function", "reward.reward_manager", "reward.reward_model", "custom_reward_function",
        "reward_manager", "reward_model",
    ),
    "GRPO has no critic": ("critic",),
    "skipped rollouts would train on stored episodes": ("skip",),
    f"the estimator is GRPO's, {_SAME_OBJECTIVE}": ("algorithm.adv_estimator",),
    "set grpo.advantage and grpo.advantage_weights": ("algorithm.gdpo_reward_keys", "algorithm.gdpo_reward_weights"),
    "set grpo.advantage_by_std": ("algorithm.norm_adv_by_std_in_grpo",),
    f"the KL term is in the loss (grpo.kl), {_SAME_OBJECTIVE}": ("algorithm.use_kl_in_reward",),
    "every group that a step has sampled is trained on": ("algorithm.filter_groups",),
    "set grpo.pairs_per_step and grpo.updates_per_step": (f"{_ACTOR}.ppo_mini_batch_size",),
    "set grpo.micro_batch_size": (f"{_ACTOR}.ppo_micro_batch_size", f"{_ACTOR}.ppo_micro_batch_size_per_gpu"),
    "set grpo.clip": (f"{_ACTOR}.clip_ratio", f"{_ACTOR}.clip_ratio_low"),
    "set grpo.clip_high": (f"{_ACTOR}.clip_ratio_high",),
    f"the second clip is fixed, {_SAME_OBJECTIVE}": (f"{_ACTOR}.clip_ratio_c",),
    "merging reads the shards of FSDP2": (f"{_ACTOR}.strategy",),
    "set grpo.loss": (f"{_ACTOR}.loss_agg_mode", f"{_ACTOR}.loss_scale_factor"),
    "set grpo.kl": (f"{_ACTOR}.use_kl_loss", f"{_ACTOR}.kl_loss_coef"),
    f"the estimate is the low-variance one, {_SAME_OBJECTIVE}": (f"{_ACTOR}.kl_loss_type",),
    "set seed": (f"{_ACTOR}.data_loader_seed", f"{_ROLLOUT}.seed"),
    "set grpo.group_size": (f"{_ACTOR}.rollout_n", f"{_ROLLOUT}.n"),
    "set grpo.learning_rate": (f"{_ACTOR}.optim.lr",),
    "set grpo.warmup_ratio": (f"{_ACTOR}.optim.lr_warmup_steps", f"{_ACTOR}.optim.lr_warmup_steps_ratio"),
    "resuming and merging need the model, the optimiser and the extra state": (f"{_ACTOR}.checkpoint",),
    "set grpo.temperature": (f"{_ROLLOUT}.temperature", f"{_ROLLOUT}.do_sample"),
    "the trainer scores samples of the whole distribution": (f"{_ROLLOUT}.top_p", f"{_ROLLOUT}.top_k"),
    "an episode ends at its end-of-text token": (f"{_ROLLOUT}.ignore_eos",),
    "the server needs its tokenizer to find stop strings": (f"{_ROLLOUT}.skip_tokenizer_init",),
    "episodes are trained with the log-probabilities of their samples": (f"{_ROLLOUT}.calculate_log_probs",),
    "set episode.prompt_tokens": (f"{_ROLLOUT}.prompt_length",),
    "set episode.budget": (f"{_ROLLOUT}.response_length",),
    "dev episodes are greedy on both engines": (f"{_ROLLOUT}.val_kwargs",),
    "the agent loop runs the episode": (
        f"{_ROLLOUT}.multi_turn", f"{_ROLLOUT}.agent.default_agent_loop", f"{_ROLLOUT}.agent.agent_loop_config_path",
    ),
    "verl's grouped prompts leave out what a search found, and one prompt stands for both orders of a pair": (
        f"{_ACTOR}.use_prefix_grouper",
    ),
    "set model": (f"{_MODEL}.path",),
    "set model to a folder with that config.json": (f"{_MODEL}.hf_config_path",),
    "set model to a folder with that tokenizer": (f"{_MODEL}.tokenizer_path",),
    "set model to a folder with that template": (f"{_MODEL}.custom_chat_template",),
    "judge-r1 never runs code of a model folder": (f"{_MODEL}.trust_remote_code",),
    "judge-r1 loads its own extension there": (f"{_MODEL}.external_lib",),
    "set lora.rank": (f"{_MODEL}.lora_rank",),
    "set lora.alpha": (f"{_MODEL}.lora_alpha",),
    "merge the adapters first, and set model": (f"{_MODEL}.lora_adapter_path",),
    "set lora": (f"{_MODEL}.lora",),
}  # fmt: skip
REFUSED = {key: reason for reason, keys in _REASONS.items() for key in keys}
"""Keys, with those below them, on which promises of judge-r1 or other fields of the recipe depend, and the reason."""


def flatten(keys: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """A nested mapping as dotted keys.

    Raises:
        ValueError: A key is refused or is no name, or a section is empty. The message names the key.
    """
    flat: dict[str, Any] = {}
    for name, value in keys.items():
        key = f"{above}{name}"
        if not all(_NAME.fullmatch(part) for part in str(name).split(".")):
            raise ValueError(f"{key!r} is no key of verl: write names joined by dots, without +")
        if isinstance(value, Mapping):
            if not value:
                raise ValueError(f"{key} is empty: give the keys below it, or remove it")
            flat |= flatten(value, f"{key}.")
        else:
            if refused := _refusal(key):
                raise ValueError(f"{key} cannot be set in a recipe: {refused}")
            flat[key] = value
    return flat


def _refusal(key: str) -> str | None:
    parts = key.split(".")
    heads = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return next((REFUSED[head] for head in heads if head in REFUSED), None)


def applied(ours: Mapping[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """Our keys with those of the recipe over them. `++` sets a key whether or not verl's files have it."""
    kept = {key: value for key, value in ours.items() if key.lstrip("+") not in extra}
    return kept | {f"++{key}": value for key, value in extra.items()}
