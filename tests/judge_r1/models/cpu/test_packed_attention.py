"""Packed texts get the attention that each gets alone."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from judge_r1.models.cpu import packed_attention as packed_module
from judge_r1.models.cpu.packed_attention import NoPositions, packed_attention, parts_of, using_attention
from judge_r1.models.hub import load_model

POSITIONS = [0, 1, 2, 3, 4, 2, 3, 4, 5, 4, 2, 0, 1, 2, 3, 4, 5, 6]
"""A text of 5 tokens, one with its first 2, one with the first 4 of that, one with the first 2 of all, and one of 7."""
TEXTS = [[0, 1, 2, 3, 4], [0, 1, 5, 6, 7, 8], [0, 1, 5, 6, 9], [0, 1, 10], [11, 12, 13, 14, 15, 16, 17]]


@pytest.mark.parametrize("window", [None, 3])
def test_each_text_attends_to_itself_alone(window: int | None) -> None:
    torch.manual_seed(0)
    module = SimpleNamespace(num_key_value_groups=2)
    query = torch.randn(1, 4, len(POSITIONS), 8, requires_grad=True)
    key, value = torch.randn(2, 1, 2, len(POSITIONS), 8, requires_grad=True)
    found, _ = packed_attention(
        module, query, key, value, None, scaling=0.3, position_ids=torch.tensor([POSITIONS]), sliding_window=window
    )
    expected = torch.empty_like(found)
    for text in TEXTS:
        mask = torch.ones(len(text), len(text), dtype=torch.bool).tril().triu(1 - (window or len(text)))
        alone, _ = sdpa_attention_forward(
            module, query[:, :, text], key[:, :, text], value[:, :, text], mask[None, None], scaling=0.3
        )
        expected[:, text] = alone
    torch.testing.assert_close(found, expected)
    weights = torch.randn_like(found)
    for inputs in (query, key, value):
        ours, theirs = (
            torch.autograd.grad((out * weights).sum(), inputs, retain_graph=True) for out in (found, expected)
        )
        torch.testing.assert_close(ours, theirs)


def test_a_row_that_is_not_packed_is_refused() -> None:
    with pytest.raises(ValueError, match="stand in one row, not in 2"):
        parts_of(torch.tensor([[0, 1], [0, 1]]))
    with pytest.raises(ValueError, match="starts at position 3, after a text of 2 tokens"):
        parts_of(torch.tensor([[0, 1, 3, 4]]))
    with pytest.raises(ValueError, match="starts at position 3, after a text of 2 tokens"):
        parts_of(torch.tensor([[0, 1, 2, 3, 1, 3]]))
    with pytest.raises(NoPositions):
        packed_attention(None, *torch.zeros(3, 1, 1, 2, 4), None)


def test_all_layers_of_a_row_share_the_mask_of_a_part() -> None:
    model = load_model("bundled:tiny")
    assert model.config.num_hidden_layers > 1
    seen: list[torch.Tensor | None] = []
    attention = packed_module.sdpa_attention_forward

    def watched(module: Any, query: Any, key: Any, value: Any, mask: Any, *rest: Any, **options: Any) -> Any:
        seen.append(mask)
        return attention(module, query, key, value, mask, *rest, **options)

    sft = load_model("bundled:tiny", attention=packed_module.NAME)
    for one, switch in ((model, using_attention(model)), (sft, nullcontext())):
        positions = torch.tensor([POSITIONS])
        with patch.object(packed_module, "sdpa_attention_forward", watched), switch:
            one(input_ids=positions + 5, position_ids=positions, use_cache=False)
    masks = [mask for mask in seen if mask is not None]
    assert len(masks) == 2 * 2 * model.config.num_hidden_layers  # of the parts shorter than what stands before them
    assert len({id(mask) for mask in masks}) == 2 * 2  # each row makes its own
