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
    sequence_parallel: int
    """GPUs that share the tokens of one episode in the update."""
    fused_kernels: bool
    """The loss is computed without storing the logits."""


def verl_settings(recipe: Recipe) -> VerlSettings:
    """Values that are not positive numbers count as verl's defaults; `check_keys` refuses them if verl is installed."""
    keys: dict[str, Any] = dict(recipe.grpo.verl)
    rollout = "actor_rollout_ref.rollout"
    shard_size = _number(keys, "actor_rollout_ref.actor.fsdp_config.fsdp_size", -1)
    return VerlSettings(
        utilisation=_number(keys, f"{rollout}.gpu_memory_utilization", 0.5),
        tensor_parallel=int(_number(keys, f"{rollout}.tensor_model_parallel_size", 1)),
        max_sequences=int(_number(keys, f"{rollout}.max_num_seqs", 256)),
        bypass_old_logprobs=bool(keys.get("algorithm.rollout_correction.bypass_mode", False)),
        shard_size=int(shard_size) if shard_size > 0 else None,
        sequence_parallel=int(_number(keys, "actor_rollout_ref.actor.ulysses_sequence_parallel_size", 1)),
        fused_kernels=bool(keys.get("actor_rollout_ref.model.use_fused_kernels", False)),
    )


def _number(keys: dict[str, Any], key: str, default: float) -> float:
    value = keys.get(key, default)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0 else default
