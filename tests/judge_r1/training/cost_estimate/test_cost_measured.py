"""The estimates beside what one GPU measured: docs/experiments/h100_size.csv (`scripts/gpu_check.py --parts size`)."""

import csv

import pytest
from paths import RECIPES, REPO

from judge_r1.models.shape import SHIPPED
from judge_r1.training.cost_estimate import (
    GIB,
    GPUS,
    Lengths,
    Machine,
    activation_bytes,
    forward_flops,
    memory,
    step_seconds,
)
from judge_r1.training.recipe import load_recipe

with (REPO / "docs/experiments/h100_size.csv").open(encoding="utf-8") as file:
    MEASURED = {row["pass"]: row for row in csv.DictReader(file)}
PROMPT, RESPONSE = 12_500, 4_000
H100 = Machine(GPUS["H100"], 1, 1)


def estimates() -> dict[str, tuple[float | None, float | None]]:
    """Seconds and GiB of each row, as scripts/gpu_checks/size.py predicts them."""
    shape, tokens, recipe = SHIPPED["Qwen/Qwen3-8B"], PROMPT + RESPONSE, RECIPES / "paper" / "warmup-fc-search.yaml"
    forward = forward_flops(shape, tokens) / H100.flops
    bfloat16 = (4 * shape.parameters + activation_bytes(load_recipe(recipe), shape, tokens)) / GIB
    all_weights = load_recipe(recipe, ["deepspeed=null", "sft.batch_size=2", "sft.micro_batch_size=1"])
    smaller = SHIPPED["Qwen/Qwen3-4B"]
    step = sum(stage.seconds for stage in step_seconds(all_weights, smaller, H100, Lengths(PROMPT, RESPONSE, 0)))
    return {
        "8B, bfloat16: log-probabilities, flash attention": (forward, None),
        "8B, bfloat16: forward and backward, flash attention": (4 * forward, bfloat16),
        "8B, bfloat16: forward and backward, with a padding mask": (None, None),
        "4B, SFT on all weights (TRL), a step": (step, sum(memory(all_weights, smaller, 1, tokens).values())),
    }


@pytest.mark.parametrize("name", MEASURED)
def test_an_estimate_is_within_15_percent_of_the_measurement(name: str) -> None:
    for column, estimate in zip(("seconds", "peak_gib"), estimates()[name], strict=True):
        recorded = MEASURED[name][f"{column}_predicted"]
        assert bool(recorded) == (estimate is not None)
        if estimate is not None:
            assert estimate == pytest.approx(float(MEASURED[name][column]), rel=0.15)
            assert estimate == pytest.approx(float(recorded), rel=0.01), "the file holds another estimate"
