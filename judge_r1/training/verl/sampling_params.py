"""Sampling parameters of a rollout server, in the names of vLLM, which ours shares, and SGLang."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from judge_r1.models.base import GenerateRequest

_READ = {"temperature", "max_tokens", "stop", "stop_token_ids", "seed", "logprobs"}
_ACCEPTED: dict[str, tuple[Any, ...]] = {
    "top_p": (1.0,),
    "top_k": (-1, 0, None),
    "repetition_penalty": (1.0,),
    "include_stop_str_in_output": (True,),
}
"""Parameters that the local engine does not implement, with the values under which they do nothing."""


def stop_params(server: str, stop: Sequence[str], stop_ids: Iterable[int], max_tokens: int) -> dict[str, Any]:
    """The parameters that end a turn at one of `stop` or `stop_ids` and keep the ids that match it.

    verl passes them unchanged. SGLang rejects vLLM's name for keeping them, and needs its tokenizer to look for strings
    (`rollout.skip_tokenizer_init=false`)."""
    keep = "no_stop_trim" if server == "sglang" else "include_stop_str_in_output"
    return {"stop": list(stop), "stop_token_ids": sorted(stop_ids), keep: True, "max_tokens": max_tokens}


def generate_request(prompt_ids: Sequence[int], params: dict[str, Any]) -> GenerateRequest:
    """The request of one call. Without a seed, one is drawn from torch's generator.

    Raises:
        ValueError: a parameter that the local engine does not honour.
    """
    for name, value in params.items():
        if name not in _READ and not (name in _ACCEPTED and value in _ACCEPTED[name]):
            raise ValueError(f"generation here does not support {name}={value!r}")
    seed = params.get("seed")
    return GenerateRequest(
        prompt_ids=prompt_ids,
        max_tokens=params["max_tokens"],
        temperature=params.get("temperature", 1.0),
        stop=tuple(params.get("stop") or ()),
        stop_ids=frozenset(params.get("stop_token_ids") or ()),
        seed=int(torch.randint(2**62, ())) if seed is None else seed,
    )
