"""Memory of one GPU, part by part. Formulas with their sources; the parts marked rough are within a factor of two.

All is for the precisions that the engines use here: GRPO keeps weights, gradients and Adam in float32 (verl's FSDP2
shards them over all GPUs; TRL has one GPU), computing in bfloat16; SFT and DPO likewise, or mixed by DeepSpeed.
"""

from judge_r1.training.cost_estimate.shape import Shape
from judge_r1.training.recipe import Recipe

GIB = 2**30
ROLLOUT_SHARE = 0.5
"""Share of a GPU that vLLM takes for weights and cache while it samples (verl's rollout.gpu_memory_utilization)."""


def memory(recipe: Recipe, shape: Shape, gpus: int, tokens: int) -> dict[str, float]:
    """GiB on each of `gpus`, where the longest example or episode, prompt included, has `tokens` tokens."""
    parts = _state(recipe, shape, gpus) | _activations(recipe, shape, tokens)
    return {name: size / GIB for name, size in parts.items()}


def cache(recipe: Recipe, shape: Shape, gpus: int, tokens: int) -> dict[str, float]:
    """GiB on each GPU while episodes are sampled: weights in bfloat16, and the cache of all episodes that a step gives
    to a GPU, if each were `tokens` long. vLLM keeps within its share, and the rest waits its turn."""
    episodes = recipe.grpo.pairs_per_step * recipe.grpo.group_size / gpus
    if recipe.grpo.engine == "trl":
        episodes = min(episodes, recipe.grpo.rollout_batch_size)
    return {"weights": 2 * shape.parameters / GIB, "kv_cache": episodes * tokens * shape.cache_bytes / GIB}


def _state(recipe: Recipe, shape: Shape, gpus: int) -> dict[str, float]:
    """Weights, gradients, optimiser, reference.

    Adam keeps two moments a parameter. In float32 that is 4 + 4 + 8 bytes; mixed as DeepSpeed does it, 2 + 2 for
    weights and gradients in bfloat16 and 12 for a float32 copy and the moments (Rajbhandari et al. 2020, ZeRO, section
    3.1). ZeRO-2 shards the gradients and the optimiser, ZeRO-3 and FSDP the weights too. Under LoRA only the adapters
    have gradients and an optimiser, and the reference is the model without them. verl holds the frozen reference in
    the memory of the host.
    """
    trained = shape.parameters if recipe.lora is None else shape.adapters(recipe.lora.rank)
    frozen = 0 if recipe.lora is None else shape.parameters
    shards = 1 if recipe.stage == "grpo" and not recipe.on_verl else gpus
    weight_shards = shards if recipe.on_verl or recipe.deepspeed == "zero3" else 1
    state_shards = shards if recipe.on_verl or recipe.deepspeed else 1
    weight, gradient, optimiser = (2, 2, 12) if recipe.deepspeed else (4, 4, 8)
    needs_reference = recipe.stage == "dpo" or (recipe.stage == "grpo" and recipe.grpo.kl > 0 and not recipe.on_verl)
    reference = weight * shape.parameters / weight_shards if needs_reference and recipe.lora is None else 0.0
    return {
        "weights": weight * (trained + frozen) / weight_shards,
        "gradients": gradient * trained / state_shards,
        "optimiser": optimiser * trained / state_shards,
        "reference": reference,
    }


def _activations(recipe: Recipe, shape: Shape, tokens: int) -> dict[str, float]:
    """Rough. With gradient checkpointing each layer keeps its input in bfloat16, 2 h bytes a token, and one layer at a
    time has all of it, 34 h (Korthikanti et al. 2022, Eq. 1, without the attention matrix, which flash attention
    never holds). Logits and their gradient are two more tensors of 2 bytes over the vocabulary."""
    rows = {
        "sft": recipe.sft.micro_batch_size,
        "dpo": 2 * recipe.dpo.micro_batch_size,  # chosen and rejected
        "grpo": recipe.grpo.micro_batch_size,
    }[recipe.stage]
    batch = rows * tokens
    return {
        "activations": batch * shape.width * (2 * shape.layers + 34),
        "logits": batch * shape.vocabulary * 4,
    }
