"""The settings of verl that the estimates need: verl's defaults, or the recipe's `grpo.verl`."""

from typing import Any, NamedTuple

from judge_r1.training.recipe import Recipe


class VerlSettings(NamedTuple):
    utilisation: float
    """Fraction of a GPU for vLLM's weights and cache while sampling."""
    tensor_parallel: int
    """GPUs of one replica of vLLM."""
    max_sequences: int
    """Episodes that a replica decodes at once."""
    bypass_old_logprobs: bool
    """The sampler's log-probabilities are the old ones."""
    shard_size: int | None
    """GPUs that share one copy of the weights; None: all."""
    fused_kernels: bool
    """The loss is computed without storing the logits."""


def verl_settings(recipe: Recipe) -> VerlSettings:
    keys: dict[str, Any] = dict(recipe.grpo.verl)
    rollout = "actor_rollout_ref.rollout"
    shard_size = keys.get("actor_rollout_ref.actor.fsdp_config.fsdp_size", -1)
    return VerlSettings(
        utilisation=keys.get(f"{rollout}.gpu_memory_utilization", 0.5),
        tensor_parallel=keys.get(f"{rollout}.tensor_model_parallel_size", 1),
        max_sequences=keys.get(f"{rollout}.max_num_seqs", 256),
        bypass_old_logprobs=bool(keys.get("algorithm.rollout_correction.bypass_mode", False)),
        shard_size=shard_size if shard_size > 0 else None,
        fused_kernels=bool(keys.get("actor_rollout_ref.model.use_fused_kernels", False)),
    )
