"""Adapters that verl has trained become weights: the model answers as with them."""

from pathlib import Path

import pytest
import torch

from judge_r1.config import LoraConfig, Recipe
from judge_r1.models import load_model
from judge_r1.training.lora import adapter_config
from judge_r1.training.verl.train import VerlFailed, merge_adapters

LORA = LoraConfig(rank=2, alpha=6)


def test_merged_weights_answer_as_base_and_adapters(recipe: Recipe, tmp_path: Path) -> None:
    from peft import get_peft_model

    folder = tmp_path / ".model.partial"
    load_model(recipe.model).save_pretrained(folder)
    torch.manual_seed(0)
    adapted = get_peft_model(load_model(recipe.model), adapter_config(LORA))
    for name, parameter in adapted.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(parameter, std=0.3)
    adapted.save_pretrained(folder / "lora_adapter")
    ids = torch.arange(10, 30)[None]
    with torch.no_grad():
        wanted, plain = adapted(ids).logits, load_model(recipe.model)(ids).logits

    merged = merge_adapters(recipe.model_copy(update={"lora": LORA}), folder)
    assert not folder.exists()
    found = load_model(str(merged))(ids).logits.detach()
    assert torch.allclose(found, wanted, atol=1e-4)
    assert not torch.allclose(found, plain, atol=1e-2)


def test_adapters_of_another_scale_are_refused(recipe: Recipe, tmp_path: Path) -> None:
    from peft import get_peft_model

    get_peft_model(load_model(recipe.model), adapter_config(LORA)).save_pretrained(tmp_path / "lora_adapter")
    other = recipe.model_copy(update={"lora": LoraConfig(rank=2, alpha=4)})
    with pytest.raises(VerlFailed, match="rank 2 and alpha 6, and the recipe trains rank 2 and alpha 4"):
        merge_adapters(other, tmp_path)
    (tmp_path / "lora_adapter" / "adapter_config.json").unlink()
    with pytest.raises(VerlFailed, match="rank None"):
        merge_adapters(other, tmp_path)
