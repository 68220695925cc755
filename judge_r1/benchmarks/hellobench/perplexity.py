"""Perplexity of a text under a causal language model, in segments (HelloBench, appendix J.2, with GPT-2 Large)."""

import math
from collections.abc import Callable, Mapping
from functools import cache
from statistics import fmean
from typing import Any

from judge_r1.models.hub import load_model, load_tokenizer

SEGMENT = 512
"""Tokens of a segment in the paper."""


def perplexity_metric(name: str, texts: Mapping[str, str]) -> Callable[[str], float | None]:
    """The perplexity of the text of an item id: the mean over segments of exp(mean negative log-likelihood). A last
    segment of one token has no likelihood and is left out, so a text of one token has no perplexity. `name` is a
    folder, a hub name or `bundled:NAME`.

    Raises:
        ModelUnavailable: The model cannot be loaded.
    """
    tokenizer, model = load_tokenizer(name), load_model(name).eval()

    @cache
    def measure(item_id: str) -> float | None:
        ids = tokenizer(texts[item_id], add_special_tokens=False)["input_ids"]
        parts = [ids[start : start + SEGMENT] for start in range(0, len(ids), SEGMENT)]
        found = [math.exp(_loss(model, part)) for part in parts if len(part) > 1]
        return fmean(found) if found else None

    return measure


def _loss(model: Any, ids: list[int]) -> float:
    """The mean negative log-likelihood of the ids after the first one."""
    import torch

    with torch.no_grad():
        shown = torch.tensor([ids], device=model.device)
        return float(model(shown, labels=shown).loss)
