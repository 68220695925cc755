"""Unmodified verl with LoRA saves a model without adapters."""

from pathlib import Path

import pytest
import torch

from judge_r1.files.run_log import read_rows
from judge_r1.models.hub import load_model
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.stage_config import LoraConfig
from judge_r1.training.verl.runner import train_verl


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_lora(recipe: Recipe, data_folder: Path, tmp_path: Path) -> None:
    recipe = recipe.model_copy(update={"lora": LoraConfig(rank=2, alpha=4)})
    run = RunFolder(tmp_path / "run", recipe)
    train_verl(recipe, data_folder, run, cpu=True)

    rows = read_rows(run.folder / "metrics.jsonl")
    assert [row["step"] for row in rows] == [1, 2]
    trained, base = load_model(str(run.model)).state_dict(), load_model(recipe.model).state_dict()
    assert trained.keys() == base.keys()
    assert all(torch.isfinite(tensor).all() for tensor in trained.values())
    assert not (run.model / "lora_adapter").exists()
