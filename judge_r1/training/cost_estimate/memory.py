"""Estimates the memory of one GPU by part. Parts marked rough are within a factor of two.

The formulas assume the precisions of the engines: weights, gradients and Adam in float32 and computation in bfloat16
(verl's FSDP2 shards them over all GPUs; TRL's GRPO uses one GPU), or DeepSpeed's mixed precision for SFT and DPO.
"""

from typing import Any, NamedTuple

from judge_r1.episode.case_index import searches_vectors
from judge_r1.episode.config import AUTO
from judge_r1.training.cost_estimate.gpus import Gpu
from judge_r1.training.cost_estimate.shape import Shape
from judge_r1.training.recipe import Recipe

GIB = 2**30
VLLM_ACTIVE, VLLM_ASLEEP = 3 * GIB, 2 * GIB
"""Rough. What vLLM needs besides weights and cache while it samples (activations of 8,192 tokens, CUDA graphs), and
what it keeps while it sleeps (CUDA context, graphs, NCCL's buffers)."""
CUDA_CONTEXT = GIB // 2
MACHINE_GPUS = 8
EMBEDDERS = {
    "bundled:e5-small": 33_400_000,
    "intfloat/e5-small-v2": 33_400_000,
    "intfloat/e5-base-v2": 109_500_000,
    "intfloat/e5-large-v2": 335_000_000,
}
"""Parameters of embedders; another one counts as the base model."""


def memory(recipe: Recipe, shape: Shape, gpus: int, tokens: int) -> dict[str, float]:
    """GiB per GPU by part. `tokens` is the length of the longest example or episode with its prompt."""
    parts = _state(recipe, shape, gpus)
    parts |= {"activations": activation_bytes(recipe, shape, tokens), "logits": logit_bytes(recipe, shape, tokens)}
    parts |= {"gathered": _gathered(recipe, shape, gpus), "embedders": _embedders(recipe, gpus)}
    parts["vllm_asleep"] = VLLM_ASLEEP if recipe.on_verl else 0
    return {name: size / GIB for name, size in parts.items()}


def cache(recipe: Recipe, shape: Shape, gpus: int, tokens: int) -> dict[str, float]:
    """GiB per GPU while sampling: weights in bfloat16, and the cache if all episodes of the GPU had `tokens` tokens.

    vLLM stays within its share of the GPU; further episodes wait."""
    episodes = recipe.grpo.pairs_per_step * recipe.grpo.group_size / gpus
    if recipe.grpo.engine == "trl":
        episodes = min(episodes, recipe.grpo.rollout_batch_size)
    split = verl_settings(recipe).tensor_parallel if recipe.on_verl else 1
    return {"weights": 2 * shape.parameters / split / GIB, "kv_cache": episodes * tokens * shape.cache_bytes / GIB}


def sampling(recipe: Recipe, shape: Shape, gpu: Gpu, gpus: int) -> dict[str, float]:
    """GiB of one of `gpus` GPUs while vLLM samples with its share: the trainer's shards stay, gradients are freed."""
    state = _state(recipe, shape, gpus)
    share = verl_settings(recipe).utilisation * gpu.memory
    parts = {"weights": state["weights"], "optimiser": state["optimiser"], "embedders": _embedders(recipe, gpus)}
    return {name: size / GIB for name, size in parts.items()} | {"vllm": share}


def capacity(recipe: Recipe, shape: Shape, gpu: Gpu, prompt: float, rest: float) -> float:
    """Episodes whose cache fits a replica of vLLM. A group shares the cache of its `prompt` tokens."""
    settings = verl_settings(recipe)
    share = settings.utilisation * gpu.memory * GIB - VLLM_ACTIVE
    free = settings.tensor_parallel * share - 2 * shape.parameters
    return max(0.0, free) / ((prompt / recipe.grpo.group_size + rest) * shape.cache_bytes)


def checkpoint_bytes(recipe: Recipe, shape: Shape) -> int:
    """Bytes of a run's two checkpoints and its model on disk.

    A full checkpoint holds float32 weights and Adam's two moments, 12 bytes per parameter; with DeepSpeed 2 more for
    bfloat16 weights. With LoRA these are of the adapters, and verl adds the frozen weights. verl's model is merged in
    bfloat16, TRL's is in float32. With dev pairs, the best weights stay in float32 and become a second model."""
    trained = shape.parameters if recipe.lora is None else shape.adapters(recipe.lora.rank)
    frozen = shape.parameters if recipe.lora is not None and recipe.on_verl else 0
    each = (14 if recipe.deepspeed else 12) * trained + 4 * frozen
    model = (2 if recipe.on_verl else 4) * shape.parameters
    best = 4 * shape.parameters + model if recipe.data.dev is not None else 0
    return 2 * each + model + best


def _state(recipe: Recipe, shape: Shape, gpus: int) -> dict[str, float]:
    """Weights, gradients, optimiser, reference.

    Adam keeps two moments per parameter: 4 + 4 + 8 bytes in float32. DeepSpeed's mixed precision needs 2 + 2 bytes for
    weights and gradients in bfloat16 and 12 for a float32 copy and the moments (Rajbhandari et al. 2020, ZeRO, section
    3.1). ZeRO-2 shards gradients and optimiser; ZeRO-3 and FSDP also shard the weights. With LoRA, only the adapters
    have gradients and an optimiser, and the reference is the model without them. verl keeps the frozen reference in
    host memory.
    """
    trained = shape.parameters if recipe.lora is None else shape.adapters(recipe.lora.rank)
    frozen = 0 if recipe.lora is None else shape.parameters
    shards = 1 if recipe.stage == "grpo" and not recipe.on_verl else gpus
    if recipe.on_verl:
        shards = min(gpus, verl_settings(recipe).shard_size or gpus)
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


def _gathered(recipe: Recipe, shape: Shape, gpus: int) -> float:
    """Weights that FSDP2 or ZeRO-3 gather to compute, in bfloat16: two layers (one computes, the next is fetched), the
    embedding and the output table; and the gradients of one layer and of the output table, before they are reduced."""
    if gpus == 1 or not (recipe.on_verl or recipe.deepspeed == "zero3"):
        return 0.0
    table = shape.vocabulary * shape.width
    tables = table if shape.tied else 2 * table
    return 2 * (2 * shape.layer_parameters + tables) + 2 * (shape.layer_parameters + table)


def _embedders(recipe: Recipe, gpus: int) -> float:
    """Rough. The embedders of searches on GPU 0 of a machine, in float32: one for each process that runs episodes, with
    a CUDA context of its own under verl."""
    if recipe.stage != "grpo" or not searches_vectors(recipe.episode) or embeds_on_processor(recipe):
        return 0.0
    size = 4.0 * embedder_parameters(recipe)
    return min(gpus, MACHINE_GPUS) * (size + CUDA_CONTEXT) if recipe.on_verl else size


def embeds_on_processor(recipe: Recipe) -> bool:
    """Whether searches embed queries on the processor, or need no vectors. By default verl does, TRL does not."""
    device = recipe.episode.retriever_device or ("cpu" if recipe.on_verl else AUTO)
    return device in ("cpu", "mps") or not searches_vectors(recipe.episode)


def embedder_parameters(recipe: Recipe) -> int:
    """Parameters of the recipe's embedder; 0 with BM25."""
    if not searches_vectors(recipe.episode):
        return 0
    return EMBEDDERS.get(recipe.episode.retriever, EMBEDDERS["intfloat/e5-base-v2"])


class VerlSettings(NamedTuple):
    """The settings of verl that the estimates need: verl's defaults, or the recipe's `grpo.verl`."""

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


def activation_bytes(recipe: Recipe, shape: Shape, tokens: int) -> float:
    """Bytes of the longest micro-batch, whose rows have `tokens` tokens, with activation checkpointing: each layer
    keeps its input, and one layer at a time keeps what its backward pass needs. Compared with an H100
    (docs/experiments/h100.md).

    TRL without DeepSpeed computes in bfloat16 from float32 weights (autocast): the residual stream is float32, and
    until the forward pass ends the weights that are trained have copies in bfloat16. With Ulysses sequence
    parallelism, several GPUs share the tokens.
    """
    rows = {
        "sft": recipe.sft.micro_batch_size,
        "dpo": 2 * recipe.dpo.micro_batch_size,  # chosen and rejected
        "grpo": recipe.grpo.micro_batch_size,
    }[recipe.stage]
    batch = rows * tokens / (verl_settings(recipe).sequence_parallel if recipe.on_verl else 1)
    autocast = not (recipe.on_verl or recipe.deepspeed)
    layer = batch * saved_bytes(shape, autocast=autocast, lora=recipe.lora is not None) + batch * 6 * shape.mlp
    copies = 0.0
    if autocast:
        layer += 2 * shape.layer_parameters
        copies = 2 * (shape.parameters if recipe.lora is None else shape.adapters(recipe.lora.rank))
    return batch * shape.layers * shape.width * (4 if autocast else 2) + max(layer, copies)


def logit_bytes(recipe: Recipe, shape: Shape, tokens: int) -> float:
    """Bytes of the logits and their gradient on verl, two tensors of 2 bytes over the vocabulary. Rough. TRL's fused
    output layer and verl's fused kernels store none."""
    if not recipe.on_verl or verl_settings(recipe).fused_kernels:
        return 0.0
    return recipe.grpo.micro_batch_size * tokens / verl_settings(recipe).sequence_parallel * shape.vocabulary * 4


def saved_bytes(shape: Shape, *, autocast: bool, lora: bool) -> int:
    """Bytes per token that a layer saves for its backward pass: residuals and norms, attention without its matrix, MLP.
    These are what transformers' Qwen3 saves for autograd (a test counts them). A layer of Qwen2, Llama or Mistral,
    which has no norms of queries and keys, saves less.

    The backward pass of the MLP needs three tensors of its width besides, 6 bytes per unit.
    """
    h, queries, keys, mlp = shape.width, shape.heads * shape.head_size, shape.kv_heads * shape.head_size, shape.mlp
    if autocast and lora:  # frozen norms save only their input; each adapter saves its input in bfloat16
        return 18 * h + 10 * queries + 8 * keys + 8 * mlp
    return (26 if autocast else 16) * h + 10 * (queries + keys) + 8 * mlp
