"""Texts in a row with branches get the attention that each gets alone."""

from types import SimpleNamespace

import pytest
import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from judge_r1.models.cpu import branch_attention
from judge_r1.models.cpu.branch_attention import branching_row, can_branch, grouped
from judge_r1.models.hub import load_model

PARTS = [(0, 9), (7, 3), (2, 4), (9, 1), (3, 0), (0, 2)]
TEXTS = [list(range(9)), [*range(7), 9, 10, 11], [0, 1, 12, 13, 14, 15], [*range(9), 16], [0, 1, 2], [17, 18]]
"""The tokens of each text of these parts: one of 9, and others that begin with its first 7, 2, 9, 3 and none."""


@pytest.mark.parametrize("block", [1, 4, 6, 128])
@pytest.mark.parametrize("scaling", [0.3, None])
def test_each_text_attends_to_itself_alone(block: int, scaling: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branch_attention, "BLOCK", block)
    torch.manual_seed(0)
    layer = SimpleNamespace(num_key_value_groups=2)
    query = torch.randn(1, 4, 19, 8)
    key, value = torch.randn(2, 1, 2, 19, 8)
    with branching_row(load_model("bundled:tiny"), PARTS):
        found, _ = branch_attention.branch_attention(layer, query, key, value, None, scaling=scaling)
    for text in TEXTS:
        states = (states[:, :, text] for states in (query, key, value))
        alone, _ = sdpa_attention_forward(layer, *states, None, scaling=scaling, is_causal=True)
        torch.testing.assert_close(found[:, text], alone)


def test_other_attentions_and_states_cannot_branch() -> None:
    from transformers import MambaConfig, MambaForCausalLM, MistralConfig, MistralForCausalLM

    assert can_branch(load_model("bundled:tiny"))
    assert not can_branch(load_model("bundled:tiny", attention="eager"))
    small = {"hidden_size": 8, "num_hidden_layers": 1, "vocab_size": 9}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 8}
    assert not can_branch(MistralForCausalLM(MistralConfig(**small, **heads, sliding_window=4)))
    assert not can_branch(MambaForCausalLM(MambaConfig(**small)))


def test_groups_have_at_most_so_much_unless_one_item_has_more() -> None:
    assert list(grouped([2, 2, 1, 9, 0, 3], lambda n: n, 4)) == [[2, 2], [1], [9], [0, 3]]
    assert list(grouped([], lambda n: n, 4)) == []
