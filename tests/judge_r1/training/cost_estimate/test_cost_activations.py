"""The bytes that a layer saves for its backward pass, counted in a real one."""

from contextlib import nullcontext
from typing import Any

import pytest
import torch
from paths import RECIPES

from judge_r1.models.shape import SHIPPED, Shape
from judge_r1.training.cost_estimate import memory, saved_bytes
from judge_r1.training.recipe import load_recipe

PAPER = RECIPES / "paper"
SHAPE = Shape(
    kind="qwen3", layers=1, width=256, mlp=768, heads=8, kv_heads=2, head_size=32, vocabulary=300, tied=True
)  # fmt: skip
TOKENS = 512


def counted_bytes(*, autocast: bool, lora: bool) -> float:
    """Bytes per token of the tensors that the layer of a real model keeps for autograd, without its weights."""
    from transformers import AutoModelForCausalLM, Qwen3Config

    config = Qwen3Config(
        vocab_size=SHAPE.vocabulary, hidden_size=SHAPE.width, intermediate_size=SHAPE.mlp, num_hidden_layers=1,
        num_attention_heads=SHAPE.heads, num_key_value_heads=SHAPE.kv_heads, head_dim=SHAPE.head_size,
    )  # fmt: skip
    dtype = torch.float32 if autocast else torch.bfloat16
    model: Any = AutoModelForCausalLM.from_config(config, dtype=dtype)
    if lora:
        from peft import LoraConfig, get_peft_model

        model = get_peft_model(model, LoraConfig(r=1, target_modules="all-linear", task_type="CAUSAL_LM")).base_model
    decoder = model.get_decoder() if not lora else model.model.model
    hidden = torch.randn(1, TOKENS, SHAPE.width, dtype=dtype, requires_grad=True)
    rotations = decoder.rotary_emb(hidden, torch.arange(TOKENS)[None])
    kept: dict[int, torch.Tensor] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if TOKENS in tensor.shape:  # weights and their copies have no such dimension
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    precision = torch.autocast("cpu", dtype=torch.bfloat16) if autocast else nullcontext()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor), precision:
        decoder.layers[0](hidden, position_embeddings=rotations, attention_mask=None)
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values()) / TOKENS


@pytest.mark.parametrize(("autocast", "lora"), [(False, False), (True, False), (True, True)])
def test_a_layer_saves_the_estimated_bytes(autocast: bool, lora: bool) -> None:
    assert counted_bytes(autocast=autocast, lora=lora) == pytest.approx(
        saved_bytes(SHAPE, autocast=autocast, lora=lora), rel=0.05
    )


def test_only_verl_stores_logits() -> None:
    for recipe, stored in (("grpo-21k", True), ("sft-21k", False), ("dpo-21k", False)):
        parts = memory(load_recipe(PAPER / f"{recipe}.yaml"), SHIPPED["Qwen/Qwen3-8B"], 8, 1000)
        assert (parts["logits"] > 0) is stored
