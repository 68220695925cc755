"""Where a model looks as it writes one token: its attention over all tokens before, through transformers' own code."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge_r1.evaluation.analysis.evaluation_reader import AnalysisError

LAYERS = 4
CHUNK = 512
"""Ids that are read at a time: what is held is `CHUNK` times the length for one layer, never its square."""


def last_attention(model: Any, ids: Sequence[int], *, layers: int = LAYERS) -> NDArray[np.float64]:
    """The attention of the last of `ids`, the one from which the next token is predicted, to each of them: float64
    `[layers, len(ids)]`, the mean over the heads of each of the last `layers` layers (fewer if the model has fewer), a
    row sums to 1.

    `model` must be loaded with attention="eager", since other implementations do not keep the weights. All but the last
    id are read into a cache, so only the last one's weights are asked for. Errors: AnalysisError where layers have no
    attention weights to show.
    """
    import torch
    from transformers import DynamicCache

    cache, count = DynamicCache(config=model.config), len(ids)
    tensor = torch.tensor([list(ids)], device=model.device)
    with torch.no_grad():
        for start in range(0, count - 1, CHUNK):
            part = tensor[:, start : min(start + CHUNK, count - 1)]
            model(input_ids=part, past_key_values=cache, use_cache=True, logits_to_keep=1)
        out = model(
            input_ids=tensor[:, -1:], past_key_values=cache, use_cache=True, logits_to_keep=1, output_attentions=True
        )
    weights = [layer for layer in out.attentions or () if layer is not None][-layers:]
    if not weights:
        raise AnalysisError("this model shows no attention weights: load it with attention='eager'")
    rows = np.zeros((len(weights), count))
    for row, layer in zip(rows, weights, strict=True):
        seen = layer[0, :, -1].double().mean(0).cpu().numpy()
        row[count - len(seen) :] = seen  # a sliding window holds the last ids only
    off = float(np.abs(rows.sum(1) - 1).max())
    if off > 0.02:
        raise AnalysisError(f"a layer's attention sums to {1 + off:.3f} or {1 - off:.3f}: it is no share of anything")
    shares: NDArray[np.float64] = rows / rows.sum(1, keepdims=True)
    return shares
