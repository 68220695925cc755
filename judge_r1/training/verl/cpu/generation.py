"""Generation for many requests at once: a request may join at any step and leaves when it is done.

One key-value cache, padded on the left, holds all rows; a newcomer's prompt is read apart and put beside the others.
The log-probability returned for an id is that of the distribution it was drawn from, softmax(logits / temperature).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.nn.functional import pad
from transformers import DynamicCache

_ACCEPTED: dict[str, tuple[Any, ...]] = {
    "top_p": (1.0,),
    "top_k": (-1, 0, None),
    "repetition_penalty": (1.0,),
    "include_stop_str_in_output": (True,),
}


@dataclass(eq=False)
class Request:
    """What to continue, and how far. Stops at an EOS id, at the id that completes one of `stop`, or at `max_tokens`;
    the ids that stop it are kept."""

    prompt: Sequence[int]
    max_tokens: int
    temperature: float = 1.0
    stop: Sequence[str] = ()
    seed: int | None = None
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, prompt: Sequence[int], params: dict[str, Any]) -> "Request":
        """From vLLM's names. Errors: ValueError for what this server would not honour."""
        known = {"temperature", "max_tokens", "stop", "seed", "logprobs", *_ACCEPTED}
        for name, value in params.items():
            if name not in known or (name in _ACCEPTED and value not in _ACCEPTED[name]):
                raise ValueError(f"the CPU rollout server does not support {name}={value!r}")
        return cls(
            prompt=prompt,
            max_tokens=params["max_tokens"],
            temperature=params.get("temperature", 1.0),
            stop=tuple(params.get("stop") or ()),
            seed=params.get("seed"),
        )


class Batch:
    """The rows under way on `model`. `decode` turns ids into text; `seed` is for requests without one of their own."""

    _cache: DynamicCache
    _mask: torch.Tensor
    """[rows, columns of the cache], 0 on padding."""
    _logits: torch.Tensor
    """[rows, vocabulary], of the id to draw next."""

    def __init__(
        self,
        model: Any,
        decode: Callable[[Sequence[int]], str],
        eos_ids: Collection[int],
        *,
        pad_id: int,
        seed: int = 0,
    ) -> None:
        self.model, self.decode, self.eos_ids, self.pad_id = model, decode, frozenset(eos_ids), pad_id
        self._own = torch.Generator().manual_seed(seed)
        self.clear()

    def clear(self) -> None:
        self.rows: list[Request] = []
        self._generators: dict[int, torch.Generator] = {}

    @torch.no_grad()
    def admit(self, requests: Sequence[Request]) -> None:
        """Read the prompts of new requests and put them beside the rows under way."""
        if not requests:
            return
        width = max(len(request.prompt) for request in requests)
        ids = torch.tensor([[self.pad_id] * (width - len(r.prompt)) + list(r.prompt) for r in requests])
        mask = torch.tensor([[0] * (width - len(r.prompt)) + [1] * len(r.prompt) for r in requests])
        cache = DynamicCache(config=self.model.config)
        logits = self._forward(ids, mask, (mask.cumsum(1) - 1).clamp(min=0), cache)
        if self.rows:
            width = max(self._mask.shape[1], mask.shape[1])
            for old, new in zip(self._cache.layers, cache.layers, strict=True):
                old.keys = torch.cat([_widen(old.keys, width), _widen(new.keys, width)])
                old.values = torch.cat([_widen(old.values, width), _widen(new.values, width)])
            left = [pad(m, (width - m.shape[1], 0)) for m in (self._mask, mask)]
            self._mask, self._logits = torch.cat(left), torch.cat([self._logits, logits])
        else:
            self._cache, self._mask, self._logits = cache, mask, logits
        self.rows += requests
        for request in requests:
            if request.seed is not None:
                self._generators[id(request)] = torch.Generator().manual_seed(request.seed)

    @torch.no_grad()
    def step(self) -> list[Request]:
        """Draw one id for each row; returns the requests that are done, which have left."""
        done = [self._draw(request, self._logits[row]) for row, request in enumerate(self.rows)]
        finished = [request for request, is_done in zip(self.rows, done, strict=True) if is_done]
        for request in finished:
            self._generators.pop(id(request), None)
        if finished:
            self._keep([row for row, is_done in enumerate(done) if not is_done])
        if self.rows:
            ids = torch.tensor([[request.ids[-1]] for request in self.rows])
            self._mask = torch.cat([self._mask, torch.ones_like(ids)], dim=1)
            self._logits = self._forward(ids, self._mask, self._mask.sum(1, keepdim=True) - 1, self._cache)
        return finished

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, cache: Any) -> torch.Tensor:
        out = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: torch.Tensor = out.logits[:, -1].float()
        return logits

    def _draw(self, request: Request, logits: torch.Tensor) -> bool:
        """Append one id to the request; says whether it is done."""
        greedy = request.temperature == 0
        log_probs = torch.log_softmax(logits if greedy else logits / request.temperature, dim=-1)
        if greedy:
            token = int(log_probs.argmax())
        else:
            generator = self._generators.get(id(request), self._own)
            token = int(torch.multinomial(log_probs.exp(), 1, generator=generator))
        request.ids.append(token)
        request.logprobs.append(float(log_probs[token]))
        return token in self.eos_ids or len(request.ids) >= request.max_tokens or self._stops(request)

    def _stops(self, request: Request) -> bool:
        """Does the text hold a stop string? Each of its characters takes an id at most, so the last ids tell."""
        if not request.stop:
            return False
        tail = self.decode(request.ids[-max(map(len, request.stop)) :])
        return any(text in tail for text in request.stop)

    def _keep(self, rows: list[int]) -> None:
        """Go on with these rows, without the columns that only others needed."""
        self.rows = [self.rows[row] for row in rows]
        if not rows:
            return
        index = torch.tensor(rows)
        mask = self._mask[index]
        start = int(mask.any(0).int().argmax())
        self._cache.batch_select_indices(index)
        for layer in self._cache.layers:
            layer.keys, layer.values = layer.keys[..., start:, :], layer.values[..., start:, :]
        self._mask, self._logits = mask[:, start:], self._logits[index]


def _widen(states: torch.Tensor, width: int) -> torch.Tensor:
    """[rows, heads, tokens, size] padded on the left to `width` tokens."""
    return pad(states, (0, 0, width - states.shape[-2], 0))
