"""One row of attention, read through a cache in parts, against the plain way: everything at once."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from judge_r1.evaluation.analysis import attention
from judge_r1.evaluation.analysis.attention import last_attention
from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError

IDS = [3 + (7 * n + 5 * n * n) % 60 for n in range(40)]


@cache
def model(attention: str = "eager", window: int | None = None, layers: int = 6) -> Any:
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    config = Qwen3Config(
        vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, max_position_embeddings=256, initializer_range=0.6,
        use_sliding_window=window is not None, sliding_window=window, max_window_layers=layers // 2,
        attn_implementation=attention,
    )  # fmt: skip
    return Qwen3ForCausalLM(config).eval()


def plainly(model: Any, ids: list[int], layers: int) -> Any:
    import torch

    with torch.no_grad():
        out = model(input_ids=torch.tensor([ids]), output_attentions=True)
    return np.stack([layer[0, :, -1].mean(0).double().numpy() for layer in out.attentions[-layers:]])


@pytest.mark.parametrize("chunk", [1, 7, 39, 512])
def test_it_is_the_last_row_of_the_whole_matrix(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "CHUNK", chunk)
    found = last_attention(model(), IDS)
    assert found.shape == (4, len(IDS))
    np.testing.assert_allclose(found.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(found, plainly(model(), IDS, 4), atol=1e-5)
    assert found.std() > 0.01  # this model looks somewhere in particular


def test_a_model_of_two_layers_shows_two() -> None:
    assert last_attention(model(layers=2), IDS).shape == (2, len(IDS))


def test_one_id_looks_at_itself() -> None:
    np.testing.assert_array_equal(last_attention(model(), [5]), np.ones((4, 1)))


def test_a_sliding_window_sees_nothing_before_it() -> None:
    windowed = model(window=8)
    found = last_attention(windowed, IDS)
    np.testing.assert_allclose(found, plainly(windowed, IDS, 4), atol=1e-5)
    assert not found[-1, :-8].any()
    np.testing.assert_allclose(found.sum(1), 1)


def test_an_implementation_that_keeps_no_weights_is_refused() -> None:
    with pytest.raises(AnalysisError, match="attention='eager'"):
        last_attention(model("sdpa"), IDS)
