"""The function for processors gives what TRL's gives, and leaves to it what it does not know."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from trl.kernels import ChunkedLogProbFunction
from trl.trainer import utils

from judge_r1.training.recipe import load_recipe
from judge_r1.training.trl import label_logprobs
from judge_r1.training.trl.common import common_arguments
from judge_r1.training.trl.label_logprobs import _OnProcessors

OUTPUTS = ("log_probs", "entropy", "is_top1")
CHUNK = 32768


def example(tokens: int = 600) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Hidden states, weights and labels, half of which are the most likely id."""
    torch.manual_seed(0)
    hidden, weight = torch.randn(tokens, 8, requires_grad=True), torch.randn(40, 8, requires_grad=True)
    labels = torch.where(torch.arange(tokens) % 2 == 0, (hidden @ weight.t()).argmax(1), torch.randint(40, (tokens,)))
    return hidden, weight, labels


@pytest.mark.parametrize(("temperature", "scale"), [(1.0, 1.0), (0.7, 0.5)])
@pytest.mark.parametrize("of", ["log_probs", "entropy", "both"])
def test_values_and_gradients_over_several_blocks_are_those_of_trl(temperature: float, scale: float, of: str) -> None:
    hidden, weight, labels = example()
    assert len(labels) > 2 * label_logprobs._BLOCK
    weights = torch.linspace(-1, 1, len(labels))

    def results(function: Any) -> tuple[list[torch.Tensor], tuple[torch.Tensor, ...]]:
        found = function.apply(hidden, weight, None, labels, temperature, CHUNK, None, scale, OUTPUTS)
        losses = {"log_probs": (found[0] * weights).sum(), "entropy": (found[1] * weights.flip(0)).sum()}
        loss = losses.get(of, losses["log_probs"] + losses["entropy"])
        return [values for values in found if values is not None], torch.autograd.grad(loss, (hidden, weight))

    (values, gradients), (expected, others) = results(_OnProcessors), results(ChunkedLogProbFunction)
    assert len(values) == len(OUTPUTS)
    for one, other in zip([*values, *gradients], [*expected, *others], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=2e-5)


def test_only_what_is_asked_for_is_returned() -> None:
    hidden, weight, labels = example(5)
    for outputs in (("log_probs",), ("log_probs", "entropy"), OUTPUTS):
        arguments = (hidden, weight, None, labels, 1.0, CHUNK, None, 1.0, outputs)
        found, expected = _OnProcessors.apply(*arguments), ChunkedLogProbFunction.apply(*arguments)
        assert [part is None for part in found] == [part is None for part in expected]


def test_a_frozen_head_and_no_label_are_no_error() -> None:
    hidden, weight, labels = example(5)
    logprobs, *_ = _OnProcessors.apply(hidden, weight.detach(), None, labels, 1.0, CHUNK, None, 1.0, OUTPUTS)
    logprobs.sum().backward()
    assert hidden.grad is not None
    none = _OnProcessors.apply(hidden[:0], weight, None, labels[:0], 1.0, CHUNK, None, 1.0, OUTPUTS)
    none[0].sum().backward()
    assert weight.grad is not None
    assert not weight.grad.any()


@pytest.mark.parametrize("change", ["bias", "softcap", "outputs", "dtype"])
def test_what_it_does_not_know_it_leaves_to_trl(change: str) -> None:
    hidden, weight, labels = example(5)
    bias = torch.ones(40) if change == "bias" else None
    if change == "dtype":
        hidden, weight = hidden.double(), weight.double()
    outputs = ("log_probs", "mean_logits") if change == "outputs" else ("log_probs",)
    arguments = (hidden, weight, bias, labels, 1.0, CHUNK, 2.0 if change == "softcap" else None, 1.0, outputs)
    found, expected = _OnProcessors.apply(*arguments), ChunkedLogProbFunction.apply(*arguments)
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.equal(one, other)


def test_trainers_on_a_processor_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utils, "_ChunkedLogProbFunction", ChunkedLogProbFunction)
    with patch("torch.cuda.is_available", return_value=False):
        common_arguments(load_recipe(Path("mini/warmup")), save_steps=1)
    assert utils._ChunkedLogProbFunction is _OnProcessors
