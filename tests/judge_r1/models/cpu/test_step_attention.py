"""Attention by groups of query heads gives what PyTorch's attention on repeated keys and values gives."""

from types import SimpleNamespace
from unittest.mock import patch

import torch
import word_model
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from judge_r1.models.base import GenerateRequest
from judge_r1.models.batch import ContinuousBatch, RunningRequest
from judge_r1.models.cpu import step_attention
from judge_r1.models.cpu.step_attention import grouped_attention, grouped_heads
from judge_r1.models.hub import load_model


@settings(max_examples=30, deadline=None)
@given(
    rows=st.integers(1, 3),
    shared=st.integers(1, 3),
    tokens=st.integers(1, 2),
    columns=st.integers(2, 9),
    masked=st.booleans(),
    seed=st.integers(0, 99),
)
def test_it_equals_the_attention_of_transformers(
    rows: int, shared: int, tokens: int, columns: int, masked: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    query = torch.randn(rows, 2 * shared, tokens, 4)
    key, value = torch.randn(2, rows, 2, columns, 4)
    mask = torch.rand(rows, 1, tokens, columns) < 0.7 if masked or tokens > 1 else None
    if mask is not None:
        mask[..., -1] = True  # a query attends at least to itself
    module = SimpleNamespace(num_key_value_groups=shared)
    found, _ = grouped_attention(module, query, key, value, mask, scaling=0.3)
    expected, _ = sdpa_attention_forward(module, query, key, value, mask, scaling=0.3)
    assert torch.allclose(found, expected, atol=1e-6)


def test_a_model_with_another_attention_keeps_it() -> None:
    model = load_model("bundled:tiny", attention="eager")
    with grouped_heads(model):
        assert model.config._attn_implementation == "eager"


def test_a_step_makes_no_mask_and_notes_once_where_the_rows_of_a_text_stand() -> None:
    running = ContinuousBatch(word_model.model(), lambda ids: "", [1], pad_id=0)
    prompts = [[2, 3, 4], [2, 3, 4], [5, 6, 7, 8]]
    places = step_attention._Places
    with (
        patch.object(step_attention, "sdpa_mask", side_effect=step_attention.sdpa_mask) as masks,
        patch.object(step_attention, "_Places", side_effect=places) as noted,
    ):
        running.admit([RunningRequest(GenerateRequest(prompt_ids=prompt, max_tokens=6)) for prompt in prompts])
        reading = masks.call_count
        for _ in range(5):
            running.step()
    assert running.busy
    assert masks.call_count == reading == 1
    assert noted.call_count == 1
