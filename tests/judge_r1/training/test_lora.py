"""Adapters merged into the weights give the same outputs as base model and adapters."""

from pathlib import Path

import pytest
import torch
from turn_recipes import RECIPE

from judge_r1.core.errors import JudgeError
from judge_r1.models.hub import load_model
from judge_r1.training.export_checkpoint import verify_weights
from judge_r1.training.lora import adapter_config, add_adapters, merge_adapters
from judge_r1.training.stage_config import LoraConfig

LORA = LoraConfig(rank=2, alpha=6)
TINY = RECIPE.model_copy(update={"model": "bundled:tiny", "lora": LORA})


@pytest.fixture(scope="module")
def adapted() -> torch.nn.Module:
    from peft import get_peft_model

    torch.manual_seed(0)
    model: torch.nn.Module = get_peft_model(load_model(TINY.model), adapter_config(LORA))
    for name, parameter in model.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(parameter, std=0.3)
    return model


def test_merged_adapters_give_the_same_logits(adapted: torch.nn.Module, tmp_path: Path) -> None:
    adapted.save_pretrained(tmp_path / "adapters")
    add_adapters(TINY, tmp_path / "adapters", tmp_path / "model")
    ids = torch.arange(10, 30)[None]
    with torch.no_grad():
        expected, plain = adapted(ids).logits, load_model(TINY.model)(ids).logits
        merged = load_model(str(tmp_path / "model"))(ids).logits
    assert torch.allclose(merged, expected, atol=1e-4)
    assert not torch.allclose(merged, plain, atol=1e-2)
    assert verify_weights(tmp_path / "model", merge_adapters(adapted.state_dict(), LORA.alpha, LORA.rank)) <= 1e-4


def test_adapters_of_another_scale_are_refused(adapted: torch.nn.Module, tmp_path: Path) -> None:
    adapted.save_pretrained(tmp_path)
    other = TINY.model_copy(update={"lora": LoraConfig(rank=2, alpha=4)})
    with pytest.raises(JudgeError, match="rank 2 and alpha 6, and the recipe trains rank 2 and alpha 4"):
        add_adapters(other, tmp_path, tmp_path / "out")
    (tmp_path / "adapter_config.json").unlink()
    with pytest.raises(JudgeError, match="rank None"):
        add_adapters(other, tmp_path, tmp_path / "out")
