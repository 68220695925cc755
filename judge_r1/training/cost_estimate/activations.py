"""Memory of activations with activation checkpointing.

Each layer keeps its input, and one layer at a time keeps what its backward pass needs. The bytes are those that
transformers' Qwen3 saves for autograd (a test counts them), and were compared with an H100
(docs/experiments/h100.md). A layer of Qwen2, Llama or Mistral, which has no norms of queries and keys, saves less.
"""

from judge_r1.training.cost_estimate.shape import Shape
from judge_r1.training.cost_estimate.verl_settings import verl_settings
from judge_r1.training.recipe import Recipe


def activation_bytes(recipe: Recipe, shape: Shape, tokens: int) -> float:
    """Bytes of the longest micro-batch, whose rows have `tokens` tokens.

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

    The backward pass of the MLP needs three tensors of its width besides, 6 bytes per unit.
    """
    h, queries, keys, mlp = shape.width, shape.heads * shape.head_size, shape.kv_heads * shape.head_size, shape.mlp
    if autocast and lora:  # frozen norms save only their input; each adapter saves its input in bfloat16
        return 18 * h + 10 * queries + 8 * keys + 8 * mlp
    return (26 if autocast else 16) * h + 10 * (queries + keys) + 8 * mlp
