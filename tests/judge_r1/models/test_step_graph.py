"""Steps of static shapes give the tokens of growing ones. On the processor a recorded step is computed again."""

import logging
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch

from judge_r1.models.base import GenerateRequest
from judge_r1.models.batch import ContinuousBatch, RunningRequest
from judge_r1.models.step_graph import AHEAD, Forward


@pytest.fixture(scope="module", params=["tiny", "smollm2"])
def model(request: pytest.FixtureRequest, model_folder: Path) -> Any:
    from transformers import AutoModelForCausalLM, LlamaConfig

    if request.param == "tiny":
        return AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    torch.manual_seed(0)  # the architecture of SmolLM2, whose query heads share keys and values
    config = LlamaConfig(
        vocab_size=600, hidden_size=48, intermediate_size=96, num_hidden_layers=3, num_attention_heads=6,
        num_key_value_heads=2, tie_word_embeddings=True,
    )  # fmt: skip
    return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def again(forward: Forward) -> Forward:
    return forward


def requests(temperature: float, longest: int = 40) -> list[list[RunningRequest]]:
    """What joins before each step: groups, one after another, of different lengths."""
    rng, found = Random(0), []
    for number in range(9):
        prompt = [rng.randrange(10, 500) for _ in range(rng.randint(3, 60))]
        fields = {"prompt_ids": prompt, "max_tokens": rng.randint(4, longest), "temperature": temperature}
        group = [RunningRequest(GenerateRequest(seed=10 * number + one, **fields)) for one in range(rng.randint(1, 3))]
        found.append(group if number % 4 else [])
    return found


def run(batch: ContinuousBatch, arrivals: list[list[RunningRequest]], every: int = 3) -> list[RunningRequest]:
    done: list[RunningRequest] = []
    for step in range(2000):
        if step % every == 0 and step // every < len(arrivals):
            batch.admit(arrivals[step // every])
        done += batch.step() if batch.busy else []
    return [request for group in arrivals for request in group]


def batch_of(model: Any, **options: Any) -> ContinuousBatch:
    return ContinuousBatch(model, lambda ids: "." * len(ids), (), pad_id=0, **options)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_static_shapes_change_no_token(model: Any, temperature: float) -> None:
    """Rows join, split, leave and move; the cache grows over a graph's columns."""
    expected = run(batch_of(model), requests(temperature, AHEAD + 80))
    found = run(batch_of(model, record=again), requests(temperature, AHEAD + 80))
    assert [one.ids for one in found] == [one.ids for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-4)


def test_few_steps_are_recorded(model: Any) -> None:
    recorded = []

    def counted(forward: Forward) -> Forward:
        recorded.append(1)
        return forward

    group = [RunningRequest(GenerateRequest(prompt_ids=[10 + n, 20, 30], max_tokens=200)) for n in range(12)]
    run(batch_of(model, record=counted), [group])
    assert len(recorded) == 1


def test_changed_weights_are_read(model: Any) -> None:
    batch = batch_of(model, record=again)
    run(batch, requests(0.0))
    batch.forget()
    assert not batch._graphs._steps  # type: ignore[union-attr]


def _fails(forward: Forward) -> Forward:
    raise RuntimeError("operation not permitted when stream is capturing")


def _wrong(forward: Forward) -> Forward:
    return lambda: forward().flip(1)


@pytest.mark.parametrize(("record", "reason"), [(_fails, "is capturing"), (_wrong, "its logits differ by")])
def test_a_step_that_cannot_be_recorded_runs_without(
    model: Any, record: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    expected = run(batch_of(model), requests(0.0))
    with caplog.at_level(logging.WARNING):
        found = run(batch_of(model, record=record), requests(0.0))
    assert [one.ids for one in found] == [one.ids for one in expected]
    [message] = [one.message for one in caplog.records]
    assert message.startswith("generates without CUDA graphs, more slowly: ")
    assert reason in message
