"""RMSNorm with its own gradient gives the values and gradients of transformers'."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM

from judge_r1.models.cpu.training import fuse_norms
from judge_r1.models.hub import load_model

IDS = torch.arange(3, 21).view(2, 9)


def model_of(kind: str, **options: Any) -> Any:
    torch.manual_seed(0)
    sizes = {"vocab_size": 30, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "head_dim": 8}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "pad_token_id": 0}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(kind, **sizes, **heads, **options))
    for name, weight in model.named_parameters():
        if "norm" in name:
            torch.nn.init.normal_(weight)
    return model


def fused(model: Any) -> list[str]:
    return [name for name, module in model.named_modules() if "forward" in vars(module)]


def gradients(model: Any) -> dict[str, torch.Tensor]:
    model.zero_grad()
    model(input_ids=IDS, labels=IDS).loss.backward()
    return {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
def test_values_and_gradients_are_those_of_transformers(kind: str) -> None:
    model = model_of(kind)
    plain = deepcopy(model)
    fuse_norms(model)
    assert fused(model) == [name for name, _ in model.named_modules() if name.endswith("norm")]
    torch.testing.assert_close(model(IDS).logits, plain(IDS).logits, rtol=1e-5, atol=1e-6)
    expected = gradients(plain)
    found = gradients(model)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-6, msg=name)
    with torch.no_grad():
        assert torch.equal(model(IDS).logits, plain(IDS).logits)  # what a policy samples stays the same


def test_a_frozen_norm_has_no_gradient() -> None:
    model = model_of("qwen3")
    fuse_norms(model)
    adapted = get_peft_model(model, LoraConfig(target_modules="all-linear", init_lora_weights=False))
    plain = deepcopy(adapted)
    for module in plain.modules():
        vars(module).pop("forward", None)
    expected, found = gradients(plain), gradients(adapted)
    assert found.keys() == expected.keys()
    assert not any("norm" in name for name in found)
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-6, msg=name)


@pytest.mark.parametrize("kind", ["gemma", "gemma2"])
def test_a_norm_with_another_formula_is_left_alone(kind: str) -> None:
    model = model_of(kind)
    fuse_norms(model)
    assert not fused(model)


def test_a_model_of_another_dtype_is_left_alone() -> None:
    model = model_of("qwen3").bfloat16()
    fuse_norms(model)
    assert not fused(model)


def test_a_model_that_is_loaded_for_training_has_it() -> None:
    assert [name for name in fused(load_model("bundled:tiny", training=True)) if name.endswith("norm")]
    assert not fused(load_model("bundled:tiny"))
