"""LoRA: low-rank adapters on every linear layer while a run trains, and plain merged weights when it is over."""

import shutil
from pathlib import Path
from typing import Any

from judge_r1.config import LoraConfig

TARGETS = "all-linear"
"""Every linear layer but the output head, in the words of peft and of verl."""


def peft_config(lora: LoraConfig) -> Any:
    """The adapters as peft describes them: W + (alpha / rank) B A, without dropout."""
    from peft import LoraConfig as PeftConfig

    return PeftConfig(r=lora.rank, lora_alpha=lora.alpha, target_modules=TARGETS, bias="none", task_type="CAUSAL_LM")


def fold_trainer(trainer: Any) -> None:
    """Merge the adapters of a trainer of transformers or TRL into its weights, so that it saves a normal model."""
    model = trainer.accelerator.unwrap_model(trainer.model).merge_and_unload()
    trainer.model = trainer.model_wrapped = model


def fold_adapter(folder: Path, lora: LoraConfig) -> None:
    """Merge `folder/lora_adapter`, as verl's merger leaves it beside the base weights, into these. The scale is the
    recipe's: verl's own note of it is lost where a checkpoint has no lora_train_meta.json."""
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    adapter = folder / "lora_adapter"
    base = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    config = peft_config(lora)
    config.target_modules = _adapted(adapter)
    model = PeftModel.from_pretrained(base, adapter, config=config).merge_and_unload()
    model.save_pretrained(folder)
    shutil.rmtree(adapter)


def _adapted(adapter: Path) -> list[str]:
    """The names of the layers that have adapters."""
    from safetensors import safe_open

    with safe_open(adapter / "adapter_model.safetensors", framework="pt") as file:
        return sorted({key.split(".lora_")[0].rsplit(".", 1)[-1] for key in file.keys()})  # noqa: SIM118
