"""A small untrained model with the tokenizer of `bundled:tiny` that ends lines often, so that it can teach."""

from pathlib import Path


def save_toy_teacher(folder: Path, seed: int = 0, *, context: int = 8192, line_end_bias: float = 6.0) -> Path:
    """Save the model and its tokenizer in `folder`."""
    import torch
    from transformers import PhiConfig, PhiForCausalLM

    from judge_r1.models.hub import load_tokenizer

    tokenizer = load_tokenizer("bundled:tiny")
    torch.manual_seed(seed)
    config = PhiConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=context,
        initializer_range=0.5,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    model = PhiForCausalLM(config)
    with torch.no_grad():
        model.lm_head.bias[tokenizer.encode("\n", add_special_tokens=False)] = line_end_bias
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
