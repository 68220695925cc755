"""Estimates of memory and tokens, compared with sums by hand."""

from pathlib import Path

import pytest
from paths import RECIPES

from judge_r1.models.shape import shape_of
from judge_r1.training.cost_estimate import GIB, memory, tokens_of
from judge_r1.training.pipeline import report
from judge_r1.training.recipe import load_recipe
from judge_r1.training.stage_config import LoraConfig

PAPER = RECIPES / "paper"
P = shape_of("Qwen/Qwen3-8B").parameters


def test_float32_adam_takes_16_bytes_a_parameter_over_all_gpus() -> None:
    recipe = load_recipe(PAPER / "grpo-21k.yaml")
    parts = memory(recipe, shape_of(recipe.model), 8, 13_500)
    assert sum(parts[name] for name in ("weights", "gradients", "optimiser")) == pytest.approx(16 * P / 8 / GIB)
    assert parts["reference"] == 0  # verl keeps it in host memory
    layer = 16 * 4096 + 10 * (4096 + 1024) + 14 * 12_288  # norms, attention, MLP with the gradients of its width
    assert parts["activations"] == pytest.approx(2 * 13_500 * (2 * 36 * 4096 + layer) / GIB)


@pytest.mark.parametrize(
    ("stage", "weights", "rest"), [("zero2", 2.0, 14 / 8), ("zero3", 2 / 8, 14 / 8), ("null", 4.0, 12.0)]
)
def test_zero_stages_shard_the_documented_parts(stage: str, weights: float, rest: float) -> None:
    recipe = load_recipe(PAPER / "sft-21k.yaml", [f"deepspeed={stage}"])
    parts = memory(recipe, shape_of(recipe.model), 8, 100)
    assert parts["weights"] == pytest.approx(weights * P / GIB)
    assert parts["gradients"] + parts["optimiser"] == pytest.approx(rest * P / GIB)


def test_only_full_fine_tuning_needs_a_reference_model() -> None:
    dpo = load_recipe(PAPER / "dpo-21k.yaml", ["deepspeed=zero2"])
    assert memory(dpo, shape_of(dpo.model), 8, 1)["reference"] == pytest.approx(2 * P / GIB)
    trl = load_recipe(PAPER / "grpo-21k.yaml", ["grpo.engine=trl"])
    assert memory(trl, shape_of(trl.model), 1, 1)["reference"] == pytest.approx(4 * P / GIB)
    lora = trl.model_copy(update={"lora": LoraConfig()})
    parts = memory(lora, shape_of(lora.model), 1, 1)
    assert parts["reference"] == 0
    assert parts["optimiser"] == pytest.approx(8 * shape_of(lora.model).trained(64) / GIB)


def test_the_kv_cache_of_a_gpu_covers_its_share_of_the_episodes(tmp_path: Path) -> None:
    lines = report([(load_recipe(PAPER / "grpo-21k.yaml"), tmp_path / "run")], "command", 8)
    assert "#     16 GPU: weights 15.3 + cache 37.1 when full" in lines  # 20 episodes of 13,500 tokens of 144 KiB


def test_numbers_of_steps_and_tokens() -> None:
    grpo = tokens_of(load_recipe(PAPER / "judge-r1-search.yaml"))
    assert (grpo.examples, grpo.steps, grpo.prompt, grpo.response, grpo.pairs) == (320, 800, 12_500, 7000, None)
    assert tokens_of(load_recipe(PAPER / "sft-21k.yaml")).steps is None
    assert tokens_of(load_recipe(PAPER / "warmup-fc.yaml")).steps == 32  # 2,000 in batches of 64, the last one padded
