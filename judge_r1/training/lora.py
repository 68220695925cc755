"""LoRA: low-rank adapters on all linear layers (but the output layer), and the merge of trained ones."""

from pathlib import Path
from typing import Any

from judge_r1.config import LoraConfig
from judge_r1.models import load_tokenizer, resolve


def adapter_config(config: LoraConfig | None) -> Any:
    """What TRL's trainers take as `peft_config`; None: all weights are trained."""
    if config is None:
        return None
    from peft import LoraConfig as PeftConfig

    return PeftConfig(r=config.rank, lora_alpha=config.alpha, target_modules="all-linear", task_type="CAUSAL_LM")


def merged(base: str, adapters: Path, out: Path) -> None:
    """Write the model `base` with trained adapters added to its weights, in float32, on the CPU."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    unset_hf_deepspeed_config()  # or ZeRO-3 would shard the model as it is loaded
    model = AutoModelForCausalLM.from_pretrained(resolve(base), dtype=torch.float32)
    PeftModel.from_pretrained(model, str(adapters)).merge_and_unload().save_pretrained(out)
    load_tokenizer(base).save_pretrained(out)
