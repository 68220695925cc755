"""LoRA adapters and their merge into the weights of a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge_r1.core.strict_json import read_json
from judge_r1.models.pretrained import causal_model, model_tokenizer

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


def write_merged(base: Path, adapters: Path, out: Path) -> None:
    """Write to `out` the model in `base` with the adapters of a folder merged into it, in float32."""
    import torch
    from safetensors.torch import load_file

    config = read_json(adapters / "adapter_config.json")
    model = causal_model(base, dtype=torch.float32)
    weights = model.state_dict() | load_file(adapters / "adapter_model.safetensors")
    model.load_state_dict(merge_adapters(weights, config["lora_alpha"], config["r"]))
    model.save_pretrained(out)
    model_tokenizer(base).save_pretrained(out)
