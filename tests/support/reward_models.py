"""Reward models with random weights."""

from pathlib import Path

from judge_r1.models.hub import load_tokenizer, resolve


def reward_model(folder: Path, outputs: int = 1) -> str:
    """A classifier with the tiny model's shape and random weights."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(resolve("bundled:tiny"), num_labels=outputs)
    tokenizer = load_tokenizer("bundled:tiny")
    config.pad_token_id = tokenizer.pad_token_id
    AutoModelForSequenceClassification.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
