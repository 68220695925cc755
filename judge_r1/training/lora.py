"""LoRA: low-rank adapters on all linear layers except the output layer, and their merge into the weights."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.files.strict_json import read_json
from judge_r1.models.hub import load_tokenizer, resolve
from judge_r1.models.pretrained import causal_model
from judge_r1.training.recipe import Recipe
from judge_r1.training.stage_config import LoraConfig


def adapter_config(config: LoraConfig | None) -> Any:
    """The `peft_config` of TRL's trainers; None trains all weights."""
    if config is None:
        return None
    from peft import LoraConfig as PeftConfig

    return PeftConfig(r=config.rank, lora_alpha=config.alpha, target_modules="all-linear", task_type="CAUSAL_LM")


def add_adapters(recipe: Recipe, adapters: Path, out: Path) -> None:
    """Write the recipe's initial model with trained adapters merged into its weights, in float32.

    Raises:
        JudgeError: The folder has no adapters of the recipe's rank and alpha.
    """
    import torch
    from peft import PeftModel
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    file, wanted = adapters / "adapter_config.json", recipe.lora or LoraConfig()
    saved = read_json(file) if file.exists() else {}
    if (saved.get("r"), saved.get("lora_alpha")) != (wanted.rank, wanted.alpha):
        raise JudgeError(
            f"{adapters} holds adapters of rank {saved.get('r')} and alpha {saved.get('lora_alpha')}, "
            f"and the recipe trains rank {wanted.rank} and alpha {wanted.alpha}"
        )
    unset_hf_deepspeed_config()  # otherwise ZeRO-3 would shard the model
    model = causal_model(resolve(recipe.model), dtype=torch.float32)
    PeftModel.from_pretrained(model, str(adapters)).merge_and_unload().save_pretrained(out)
    load_tokenizer(recipe.model).save_pretrained(out)


PREFIX = "base_model.model."
"""What peft writes before the names of layers."""


def merge_adapters(weights: Mapping[str, Any], alpha: float, rank: int) -> dict[str, Any]:
    """Merge the adapters among `weights`: W + (alpha / rank) B A for each adapted layer (Hu et al. 2021, Eq. 3).

    Returns the weights by their names without adapters."""
    plain = {
        name.removeprefix(PREFIX).replace(".base_layer.", "."): tensor
        for name, tensor in weights.items()
        if "lora_" not in name
    }
    for name, a in weights.items():
        if "lora_A" in name:
            layer = name.partition(".lora_A")[0].removeprefix(PREFIX) + ".weight"
            b = weights[name.replace("lora_A", "lora_B")]
            plain[layer] = plain[layer].float() + alpha / rank * b.float() @ a.float()
    return plain
