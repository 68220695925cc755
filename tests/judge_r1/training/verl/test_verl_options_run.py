"""Unmodified verl with LoRA and dynamic sampling: a run counts redraws and saves a model without adapters."""

from pathlib import Path

import pytest
import torch

from judge_r1.core.run_log import read_rows
from judge_r1.models.hub import load_model
from judge_r1.training.dynamic_sampling import REDRAWS
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.stage_config import LoraConfig
from judge_r1.training.verl.runner import train_verl


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_lora_and_dynamic_sampling(recipe: Recipe, data_folder: Path, tmp_path: Path) -> None:
    """The model of random weights is never right, so all outcomes are equal and each step ends at the redraw bound."""
    grpo = recipe.grpo.model_copy(update={"dynamic_sampling": True})
    recipe = recipe.model_copy(update={"grpo": grpo, "lora": LoraConfig(rank=2, alpha=4)})
    run = RunFolder(tmp_path / "run", recipe)
    train_verl(recipe, data_folder, run, cpu=True)

    rows = read_rows(run.folder / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2]
    for row in rows:
        assert row["rollout/groups_redrawn"] == REDRAWS * grpo.pairs_per_step
        assert row["rollout/episodes"] >= (1 + REDRAWS) * grpo.pairs_per_step * grpo.group_size
    trained, base = load_model(str(run.model)).state_dict(), load_model(recipe.model).state_dict()
    assert trained.keys() == base.keys()
    assert all(torch.isfinite(tensor).all() for tensor in trained.values())
    assert not (run.model / "lora_adapter").exists()
