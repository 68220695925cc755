"""A model of 50,000 random weights with the bundled tokenizer, for what needs a model and not what it has learned. A
step of training takes a tenth of the time of `bundled:tiny`."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path


@cache
def toy_model(positions: int = 4096) -> Path:
    """The folder of a model that reads `positions` tokens, written once per process and removed at the end."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    from judge_r1.models.hub import load_tokenizer

    tokenizer = load_tokenizer("bundled:tiny")
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, head_dim=16, max_position_embeddings=positions, bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    folder, process = Path(tempfile.mkdtemp(prefix="toy-model-")), os.getpid()
    atexit.register(lambda: os.getpid() == process and shutil.rmtree(folder, ignore_errors=True))  # not in forks
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
