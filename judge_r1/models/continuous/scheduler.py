"""Generation for many requests at once: a request may join at any step and leaves when it is done.

One key-value cache holds a row for each request, its ids at the right end; a row that has become free is taken over in
place. A newcomer is read apart, and of it only what no earlier request has read (`kept`): of the next turn of an
episode the observation, of the same prompt for a whole group one copy. The log-probability returned for an id is that
of the distribution it was drawn from, softmax(logits / temperature).
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from torch.nn.functional import pad
from transformers import DynamicCache

from judge_r1.core.errors import JudgeError
from judge_r1.models.continuous.prefix_cache import PrefixCache, States
from judge_r1.models.continuous.request import Request, StopChecker
from judge_r1.models.sampling import PreallocatedLayer, preallocated_cache, sample_tokens

_UNUSED_COLUMNS = 128
"""Columns that no row needs any more are dropped when there are so many: dropping copies the whole cache."""
_WORTH_COPYING = 0.5
"""Free rows leave once no more than this share is taken."""


class ContinuousBatch:
    """The requests under way on `model`. `decode` turns ids into text."""

    _cache: DynamicCache
    _mask: torch.Tensor
    """[rows, columns of the cache], 0 on padding and on what a free row has left behind."""
    _logits: torch.Tensor
    """[rows, vocabulary], of the id to draw next."""

    def __init__(
        self, model: Any, decode: Callable[[Sequence[int]], str], eos_ids: Collection[int], *, pad_id: int
    ) -> None:
        if not all(isinstance(layer, PreallocatedLayer) for layer in preallocated_cache(model.config).layers):
            raise JudgeError(f"dynamic batching cannot run {model.config.model_type}: its attention is not plain")
        self.model, self.pad_id = model, pad_id
        self.stopping, self.kept = StopChecker(decode, frozenset(eos_ids)), PrefixCache()
        self.clear()

    def clear(self) -> None:
        """Forget the requests under way and all that was read."""
        self.rows: list[Request | None] = []
        self.kept.clear()

    @property
    def busy(self) -> bool:
        return any(self.rows)

    @torch.no_grad()
    def admit(self, requests: Sequence[Request]) -> None:
        """Read the prompts of new requests and put them beside those under way."""
        if not requests:
            return
        prompts = list(dict.fromkeys(tuple(request.prompt) for request in requests))
        logits, states = self._read(prompts)
        read = dict(zip(prompts, zip(logits, states, strict=True), strict=True))
        rows = self._make_room(len(requests), max(map(len, prompts)), states[0], logits)
        for row, request in zip(rows, requests, strict=True):
            self.rows[row] = request
            self._logits[row], layers = read[tuple(request.prompt)]
            start = self._mask.shape[1] - len(request.prompt)
            self._mask[row, :start], self._mask[row, start:] = 0, 1
            for layer, (keys, values) in zip(self._cache.layers, layers, strict=True):
                layer.keys[row, :, start:], layer.values[row, :, start:] = keys, values

    def drop(self, requests: Sequence[Request]) -> None:
        """Let go of requests that nobody waits for any more."""
        for request in requests:
            if request in self.rows:
                row = self.rows.index(request)
                self.rows[row], self._mask[row] = None, 0

    @torch.no_grad()
    def step(self) -> list[Request]:
        """Draw one id for each request; returns those that are done, which have left."""
        taken = [(row, request) for row, request in enumerate(self.rows) if request is not None]
        for temperature in {request.temperature for _, request in taken}:
            same = [(row, request) for row, request in taken if request.temperature == temperature]
            chances = torch.stack([request.chances[len(request.ids)] for _, request in same])
            ids, logprobs = sample_tokens(self._logits[[row for row, _ in same]], temperature, chances[:, None])
            for (row, request), token, logprob in zip(same, ids, logprobs, strict=True):
                if (rival := request.rival_of.get(token)) is not None:
                    behind = float(self._logits[row, rival] - self._logits[row, token])
                    request.rivals[len(request.ids)] = logprob + behind / (temperature or 1.0)
                request.ids.append(token)
                request.logprobs.append(logprob)
        finished = [(row, request) for row, request in taken if self.stopping.done(request)]
        for row, request in finished:
            self._keep(row, request)
            self.rows[row], self._mask[row] = None, 0
        self._tidy()
        if self.busy:
            self._forward_all()
        return [request for _, request in finished]

    # ---- inside ----

    def _forward_all(self) -> None:
        ids = torch.tensor([[self.pad_id if request is None else request.ids[-1]] for request in self.rows])
        self._mask = torch.cat([self._mask, torch.ones_like(ids)], dim=1)
        self._logits = self._forward(ids, self._mask, self._mask.sum(1, keepdim=True) - 1, self._cache)

    def _read(self, prompts: Sequence[tuple[int, ...]]) -> tuple[torch.Tensor, list[States]]:
        """Of each prompt the logits of what follows, and its states; only what is not kept is run through the model."""
        known = [self.kept.longest(prompt) for prompt in prompts]
        old = max(length for length, _ in known)
        new = max(len(prompt) - length for prompt, (length, _) in zip(prompts, known, strict=True))
        cache, mask = DynamicCache(config=self.model.config), torch.zeros(len(prompts), old + new, dtype=torch.long)
        ids = torch.full((len(prompts), new), self.pad_id)
        for row, (prompt, (length, _)) in enumerate(zip(prompts, known, strict=True)):
            rest = prompt[length:]
            ids[row, new - len(rest) :] = torch.tensor(rest)
            mask[row, old - length : old] = 1
            mask[row, old + new - len(rest) :] = 1
        if old:
            for number, empty in enumerate(next(states for _, states in known if states is not None)):
                layers = [empty if states is None else states[number] for _, states in known]
                lengths = [length for length, _ in known]
                padded = [
                    torch.stack([_to_width(layer[part][:, :n], old) for layer, n in zip(layers, lengths, strict=True)])
                    for part in (0, 1)
                ]
                cache.update(*padded, number)
        positions = (mask.cumsum(1) - 1).clamp(min=0)[:, old:]
        logits = self._forward(ids, mask, positions, cache)
        seen = mask.bool()
        states = [
            [(layer.keys[row][:, seen[row]], layer.values[row][:, seen[row]]) for layer in cache.layers]
            for row in range(len(prompts))
        ]
        for prompt, (length, _), layers in zip(prompts, known, states, strict=True):
            if not length:  # others of its group may come a moment later
                self.kept.put(prompt[:-1], [(keys[:, :-1], values[:, :-1]) for keys, values in layers])
        return logits, states

    def _make_room(self, count: int, width: int, like: States, logits: torch.Tensor) -> list[int]:
        """Rows for `count` newcomers, and columns for the longest of them."""
        if not self.rows:
            self._cache = preallocated_cache(self.model.config)
            for number, (keys, values) in enumerate(like):
                empty = [keys.new_zeros(0, keys.shape[0], 0, keys.shape[2]) for _ in (keys, values)]
                self._cache.update(*empty, number)
            self._mask, self._logits = torch.zeros(0, 0, dtype=torch.long), logits[:0]
        free = [row for row, request in enumerate(self.rows) if request is None]
        more = max(count - len(free), 0)
        left = max(width - self._mask.shape[1], 0)
        if more or left:
            self._mask = pad(self._mask, (left, 0, 0, more))
            self._logits = pad(self._logits, (0, 0, 0, more))
            for layer in self._cache.layers:
                layer.room = None
                layer.keys, layer.values = (pad(t, (0, 0, left, 0, 0, 0, 0, more)) for t in (layer.keys, layer.values))
        free += range(len(self.rows), len(self.rows) + more)
        self.rows += [None] * more
        return free[:count]

    def _keep(self, row: int, request: Request) -> None:
        """Remember what has been read of a request: all but its last id. Not if EOS ends it: nothing follows."""
        if request.ids[-1] in self.stopping.eos_ids:
            return
        ids = [*request.prompt, *request.ids[:-1]]
        start = self._mask.shape[1] - len(ids)
        states = [
            (layer.keys[row, :, start:].clone(), layer.values[row, :, start:].clone()) for layer in self._cache.layers
        ]
        self.kept.put(ids, states)

    def _tidy(self) -> None:
        """Drop free rows, and columns on the left that no row needs, once it is worth a copy."""
        taken = [row for row, request in enumerate(self.rows) if request is not None]
        if not taken:
            self.rows = []
            return
        if len(taken) <= _WORTH_COPYING * len(self.rows):
            index = torch.tensor(taken)
            self._cache.batch_select_indices(index)
            self.rows = [self.rows[row] for row in taken]
            self._mask, self._logits = self._mask[index], self._logits[index]
        unused = int(self._mask.any(0).int().argmax())
        if unused >= _UNUSED_COLUMNS:
            self._mask = self._mask[:, unused:]
            for layer in self._cache.layers:
                layer.room = None
                layer.keys, layer.values = layer.keys[..., unused:, :], layer.values[..., unused:, :]

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


def _to_width(states: torch.Tensor, width: int) -> torch.Tensor:
    """[heads, tokens, size] padded on the left to `width` tokens."""
    return pad(states, (0, 0, width - states.shape[-2], 0))
