"""A model that ignores the mask of right-padded rows has the same losses and gradients, and computes without a mask."""

from typing import Any
from unittest.mock import patch

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM, DynamicCache

from judge_r1.models.cpu import training
from judge_r1.models.cpu.training import drop_masks_of_right_padding, is_right_padded
from judge_r1.models.hub import load_model

CONFIGS: dict[str, dict[str, Any]] = {
    "llama": {"num_key_value_heads": 1},
    "qwen3": {"num_key_value_heads": 2, "head_dim": 8},
    "mistral": {"num_key_value_heads": 1, "sliding_window": 4},
    "opt": {"ffn_dim": 32, "word_embed_proj_dim": 16, "dropout": 0.0},
    "qwen3_moe": {
        "num_key_value_heads": 2, "head_dim": 8, "num_experts": 4, "num_experts_per_tok": 2,
        "moe_intermediate_size": 16, "output_router_logits": True,
    },
}  # fmt: skip


def model_of(kind: str, **options: Any) -> Any:
    torch.manual_seed(0)
    sizes = {"vocab_size": 30, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    return AutoModelForCausalLM.from_config(
        AutoConfig.for_model(
            kind, **sizes, num_attention_heads=2, max_position_embeddings=32, **CONFIGS[kind], **options
        ),
        attn_implementation="sdpa",
    )


def batch(lengths: tuple[int, ...], *, left: bool = False) -> dict[str, torch.Tensor]:
    ids = torch.randint(2, 30, (len(lengths), max(lengths)), generator=torch.Generator().manual_seed(1))
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    mask = mask.flip(1) if left else mask
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


def loss_and_gradients(model: Any, inputs: dict[str, torch.Tensor]) -> tuple[float, list[torch.Tensor]]:
    model.zero_grad()
    loss = model(**inputs, use_cache=False).loss
    loss.backward()
    return loss.item(), [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]


def masks_seen(model: Any, inputs: dict[str, Any]) -> list[bool]:
    """Whether each attention of a forward pass has a mask."""
    attention = torch.nn.functional.scaled_dot_product_attention
    with patch.object(torch.nn.functional, "scaled_dot_product_attention", side_effect=attention) as called:
        model(**inputs)
    assert called.call_args_list
    return [call.kwargs["attn_mask"] is not None for call in called.call_args_list]


@pytest.mark.parametrize("kind", CONFIGS)
def test_losses_and_gradients_are_the_same(kind: str) -> None:
    inputs, model = batch((9, 4, 7)), model_of(kind).train()
    expected_loss, expected = loss_and_gradients(model, inputs)
    drop_masks_of_right_padding(model)
    with patch.object(training, "is_right_padded", side_effect=is_right_padded) as asked:
        loss, found = loss_and_gradients(model, inputs)
    assert asked.call_count == 1
    assert loss == pytest.approx(expected_loss, abs=1e-6)
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_a_training_model_computes_right_padded_rows_without_a_mask() -> None:
    model, inputs = load_model("bundled:tiny", training=True), batch((9, 4, 7))
    assert masks_seen(model, inputs) == [False] * model.config.num_hidden_layers
    assert all(masks_seen(load_model("bundled:tiny"), inputs))


def test_lora_keeps_it() -> None:
    model = get_peft_model(load_model("bundled:tiny", training=True), LoraConfig(target_modules="all-linear"))
    assert not any(masks_seen(model, batch((9, 4))))


def test_left_padding_a_cache_and_other_attention_keep_their_mask() -> None:
    model = load_model("bundled:tiny", training=True)
    assert all(masks_seen(model, batch((9, 4), left=True)))
    assert all(masks_seen(model, batch((9, 4)) | {"past_key_values": DynamicCache(config=model.config)}))
    eager = load_model("bundled:tiny", training=True, attention="eager")
    inputs = batch((9, 4))
    with patch.object(eager.base_model, "forward", side_effect=eager.base_model.forward) as called:
        eager(**inputs)
    assert torch.equal(called.call_args.kwargs["attention_mask"], inputs["attention_mask"])


def test_a_mask_of_scores_and_a_model_that_looks_ahead_keep_their_mask() -> None:
    model, inputs = load_model("bundled:tiny", training=True), batch((9, 9))
    hidden = torch.zeros(2, 1, 9, 9).masked_fill(torch.ones(9, 9).triu(1).bool(), float("-inf"))
    assert all(masks_seen(model, inputs | {"attention_mask": hidden}))
    ahead, inputs = model_of("llama", is_causal=False), batch((9, 4))
    expected, _ = loss_and_gradients(ahead, inputs)
    drop_masks_of_right_padding(ahead)
    assert loss_and_gradients(ahead, inputs)[0] == expected


@given(st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=1, max_size=3))
def test_right_padding_is_ones_and_then_zeros(rows: list[list[int]]) -> None:
    expected = all(row[0] == 1 and row == sorted(row, reverse=True) for row in rows)
    assert is_right_padded(torch.tensor(rows)) == expected
