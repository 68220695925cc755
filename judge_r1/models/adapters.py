"""LoRA adapters and their merge into the weights of a model."""

from collections.abc import Mapping
from typing import Any

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
