"""Verifies that a saved model has the trained weights by comparing log-probabilities."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.principles import PRINCIPLES
from judge_r1.models.hub import load_tokenizer
from judge_r1.models.pretrained import causal_model, untrained_model

TOLERANCE = 1e-4
"""Largest accepted log-probability difference. Both models hold the same numbers and compute in float32."""


class WeightMismatch(JudgeError):
    """The saved model differs from the trained weights."""


def verify_weights(folder: Path, weights: Mapping[str, Any]) -> float:
    """Compare the model in `folder` with one that has `weights` (by name), which must come from another source.

    Returns the largest difference of next-token log-probabilities over the definitions of the six principles. Weights
    are first rounded to the precision of the folder.

    Raises:
        WeightMismatch: Names do not match, or the difference exceeds `TOLERANCE`.
    """
    import torch
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    unset_hf_deepspeed_config()  # otherwise ZeRO-3 would shard the models, in one process
    saved = causal_model(folder, dtype="auto").eval()
    texts = [load_tokenizer(str(folder)).encode(p.definition, add_special_tokens=False) for p in PRINCIPLES]
    rounded = {name: tensor.to(saved.dtype).float() for name, tensor in weights.items()}
    actual = [_log_probs(saved.float(), ids) for ids in texts]
    # Two models of this size may not fit into memory together.
    del saved
    other = untrained_model(folder, torch.float32).eval()
    missing, unknown = other.load_state_dict(rounded, strict=False)
    tied = set(other.all_tied_weights_keys) if other.config.tie_word_embeddings else set()
    if unknown or set(missing) - tied:
        raise WeightMismatch(f"{folder}: weights do not fit the model; missing {sorted(missing)}, unknown {unknown}")
    other.tie_weights()
    expected = [_log_probs(other, ids) for ids in texts]
    worst = max(float((a - b).abs().max()) for a, b in zip(actual, expected, strict=True))
    if not worst <= TOLERANCE:  # also fails for NaN
        raise WeightMismatch(f"{folder}: log-probabilities differ by {worst:.2g} from those of the trained weights")
    return worst


def _log_probs(model: Any, ids: list[int]) -> Any:
    """Log-probabilities of the ids after the first, [len(ids) - 1]."""
    import torch

    row = torch.tensor([ids])
    with torch.no_grad():
        logits = model(row).logits[0, :-1]
    return logits.log_softmax(-1).gather(-1, row[0, 1:, None]).squeeze(-1)
