"""One request for ids, in vLLM's names, and when it is done."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from judge_r1.models.sampling import uniform_noise

_ACCEPTED: dict[str, tuple[Any, ...]] = {
    "top_p": (1.0,),
    "top_k": (-1, 0, None),
    "repetition_penalty": (1.0,),
    "include_stop_str_in_output": (True,),
}


@dataclass(eq=False)
class Request:
    """What to continue, and how far. Stops at one of `stop_ids`, at the id that completes one of `stop`, or at
    `max_tokens`; the ids that stop it are kept. `chances` are the random numbers that its ids are drawn by.
    `rivals`: by place in `ids`, the log-probability of the id that `rival_of` names for the one that was drawn."""

    prompt: Sequence[int]
    max_tokens: int
    temperature: float = 1.0
    stop: Sequence[str] = ()
    stop_ids: frozenset[int] = frozenset()
    seed: int | None = None
    rival_of: Mapping[int, int] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    rivals: dict[int, float] = field(default_factory=dict)
    cancelled: bool = False

    def __post_init__(self) -> None:
        seed = int(torch.randint(2**62, ())) if self.seed is None else self.seed
        self.chances = uniform_noise(seed, self.max_tokens)

    @classmethod
    def of(cls, prompt: Sequence[int], params: dict[str, Any]) -> "Request":
        """From vLLM's names. Errors: ValueError for what this server would not honour."""
        known = {"temperature", "max_tokens", "stop", "stop_token_ids", "seed", "logprobs", *_ACCEPTED}
        for name, value in params.items():
            if name not in known or (name in _ACCEPTED and value not in _ACCEPTED[name]):
                raise ValueError(f"generation here does not support {name}={value!r}")
        if not prompt or params["max_tokens"] < 1:
            raise ValueError("a request needs an id to continue and room for one more")
        return cls(
            prompt=prompt,
            max_tokens=params["max_tokens"],
            temperature=params.get("temperature", 1.0),
            stop=tuple(params.get("stop") or ()),
            stop_ids=frozenset(params.get("stop_token_ids") or ()),
            seed=params.get("seed"),
        )


class StopChecker:
    """Says when a request is done. `decode` turns ids into text."""

    def __init__(self, decode: Callable[[Sequence[int]], str], eos_ids: frozenset[int]) -> None:
        self.decode, self.eos_ids = decode, eos_ids
        self._alone: dict[int, str] = {}

    def done(self, request: Request) -> bool:
        """Is the last id of the request its last?"""
        last = request.ids[-1]
        ended = last in self.eos_ids or last in request.stop_ids
        return ended or len(request.ids) >= request.max_tokens or self._said(request, last)

    def _said(self, request: Request, last: int) -> bool:
        """Does the text hold a stop string? Only an id that writes the last character of one (or a part of a
        character) completes it; each character takes an id at most, so the last ids tell."""
        if last not in self._alone:
            self._alone[last] = self.decode([last])
        alone = self._alone[last]
        if not request.stop or ("�" not in alone and not any(text[-1] in alone for text in request.stop)):
            return False
        tail = self.decode(request.ids[-max(map(len, request.stop)) :])
        return any(text in tail for text in request.stop)
