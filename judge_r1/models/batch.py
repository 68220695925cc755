"""Continuous batching: a request may join the batch before any step and leaves it when it is complete.

One key-value cache holds a row for each text, its tokens at the right end. Requests with one prompt that join together
share a row until they sample different ids. On a processor, the prompts of groups that begin together are held once,
beside the cache. Only what no earlier request has read is run through the model: a group reads its prompt once, and the
next turn of an episode reads the observation in one forward pass, beside the rows that sample. The states of a
completed row stay in place ("parked") for the requests that continue it, until their row or columns are needed; then
they move to the prefix cache.

A model whose layers do not all have plain attention (sliding windows, linear attention) cannot exchange rows. Its
requests are batched statically: new ones join only when the batch is empty, and read their whole prompts.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import pad
from transformers import DynamicCache

from judge_r1.models.base import GenerateRequest
from judge_r1.models.cpu.step_attention import SharedTexts, StepAttention, grouped_heads, uses_grouped_heads
from judge_r1.models.kv_cache import (
    CACHE_ARGUMENT,
    PreallocatedLayer,
    PrefixCache,
    States,
    preallocated_cache,
    shared_length,
)
from judge_r1.models.sampling import StopChecker, sample_tokens, uniform_noise
from judge_r1.models.step_graph import Record, StepGraphs, cuda_graph

GRAPHS = "JUDGE_R1_CUDA_GRAPHS"
_WORTH_COPYING = 0.75
"""Free rows are dropped once no more than this share of the rows is in use."""


class RunningRequest:
    """A request with the ids sampled so far, their log-probabilities, and the alternatives' by index."""

    def __init__(self, request: GenerateRequest) -> None:
        if request.prompt_ids is None:
            raise ValueError("a token model needs prompt_ids, not messages")
        self.request, self.prompt = request, tuple(request.prompt_ids)
        self.ids: list[int] = []
        self.logprobs: list[float] = []
        self.alternatives: dict[int, float] = {}
        self.cancelled = False
        self.noise = [0.0] * request.max_tokens
        if request.temperature:
            noise = uniform_noise(request.seed, request.seed_offset + request.max_tokens)
            self.noise = noise[request.seed_offset :].tolist()

    @property
    def length(self) -> int:
        return len(self.prompt) + len(self.ids)


@dataclass
class _Parked:
    """States left in a row: of `ids`, in the columns up to `end`, since step number `step`, by so many requests."""

    ids: tuple[int, ...]
    end: int
    step: int
    requests: int


class ContinuousBatch:
    """The requests that run on `model`. `decode` turns ids into text, `eos_ids` end every request.

    With `min_shared`, prompts are read one after the other, and each from where it leaves the earlier ones, if it
    shares at least so many first ids with one of them. What prompts that come together begin with is held once.
    `record` makes steps of static shapes repeatable, by default CUDA graphs on a GPU if `GRAPHS` is 1 (not run on one
    yet: `scripts/gpu_check.py --parts engine`).

    Methods that change tensors run in inference mode: PyTorch refuses to change tensors of that mode elsewhere.
    """

    rows: list[list[RunningRequest]]
    """For each row, the requests that share it; none in a free or parked row."""
    _shared: SharedTexts | None
    """The prompts of the groups that the batch began with, or their beginnings. Their states are not in the cache."""
    _text_of: list[int | None]
    """The shared text that a row begins with."""
    _cache: DynamicCache
    _mask: torch.Tensor
    """[rows, columns of the cache], 1 on the states of a running or parked row."""
    _selects: bool
    """Whether rows can be dropped and repeated. Those of linear attention cannot."""
    _logits: torch.Tensor
    """[rows, vocabulary], of the id to sample next."""

    def __init__(
        self,
        model: Any,
        decode: Callable[[Sequence[int]], str],
        eos_ids: Collection[int],
        *,
        pad_id: int,
        min_shared: int | None = None,
        record: Record | None = None,
    ) -> None:
        self.model, self.pad_id = model, pad_id
        layers = preallocated_cache(model.config).layers
        self.static = not all(isinstance(layer, PreallocatedLayer) for layer in layers)
        self._selects = all(hasattr(layer, "batch_select_indices") for layer in layers)
        self.stopping, self.prefixes = StopChecker(decode, frozenset(eos_ids)), PrefixCache(min_shared=min_shared)
        if record is None and model.device.type == "cuda" and os.environ.get(GRAPHS) == "1":
            record = cuda_graph
        plain = not self.static and uses_grouped_heads(model)
        self._graphs = StepGraphs(self._forward, record) if record is not None and plain else None
        self._by_steps = plain and model.device.type == "cpu" and self._graphs is None
        self._steps = 0
        self.clear()

    def clear(self) -> None:
        """Drop the running requests and all states."""
        self._parked: dict[int, _Parked] = {}
        self._reset()
        self.prefixes.clear()

    @torch.inference_mode()
    def forget(self) -> None:
        """Drop the states of completed requests: they do not belong to the model's new weights."""
        self.prefixes.clear()
        for row in list(self._parked):
            self._free(row)
        if self._graphs is not None:  # the new weights may be in other memory
            self._graphs.clear()

    @torch.inference_mode()
    def release(self) -> None:
        """Give the batch's memory back while nothing runs. States for later requests move to the prefix cache."""
        for row in list(self._parked):
            self._spill(row)
        self._reset()

    @property
    def busy(self) -> bool:
        return any(self.rows)

    @property
    def accepting(self) -> bool:
        """Whether requests may join now."""
        return not (self.static and self.busy)

    def admit(self, requests: Sequence[RunningRequest]) -> None:
        """Read the prompts of new requests and put them beside those that run."""
        if self.prefixes.min_shared is None or self.static:
            self._admit(requests)
        else:
            self._hold_beginnings([request.prompt for request in requests])
            for request in requests:
                self._admit([request])

    @torch.inference_mode()
    def _admit(self, requests: Sequence[RunningRequest]) -> None:
        prompts = list(dict.fromkeys(request.prompt for request in requests))
        known = {prompt: self._known(prompt) for prompt in prompts}
        first = not self.busy and self._shared is None
        if prompts and first and not any(length for length, _, _ in known.values()):
            self._start(requests, prompts)
            return
        for new in (False, True):  # apart, as each is padded to its longest; continuations first, their rows are theirs
            part = [prompt for prompt in prompts if (known[prompt][0] == 0) == new]
            if part:
                self._join([request for request in requests if request.prompt in part], part, known)

    @torch.inference_mode()
    def drop(self, requests: Collection[RunningRequest]) -> None:
        """Remove cancelled requests."""
        for row, sharing in enumerate(self.rows):
            if any(request in requests for request in sharing):
                self.rows[row] = [request for request in sharing if request not in requests]
                if not self.rows[row]:
                    self._free(row)

    @torch.inference_mode()
    def step(self) -> list[RunningRequest]:
        """Sample one id for each request. Returns the requests that are complete; they have left the batch."""
        self._steps += 1
        running = [(row, request) for row, sharing in enumerate(self.rows) for request in sharing]
        for temperature in {request.request.temperature for _, request in running}:
            self._sample([(row, r) for row, r in running if r.request.temperature == temperature], temperature)
        complete = dict.fromkeys(r for _, r in running if self.stopping.done(r.request, r.ids))
        # Nothing follows EOS, and static batches keep no states.
        self.drop({r for r in complete if self.static or self.stopping.at_eos(r.request, r.ids[-1])})
        self._split(complete)
        for row, sharing in enumerate(self.rows):
            if sharing and (one := sharing[0]) in complete:
                self.rows[row] = []
                # Without the last id, which was sampled and not read, so that it has no states.
                ids = (*one.prompt, *one.ids[:-1])
                self._parked[row] = _Parked(ids, self._mask.shape[1], self._steps, len(sharing))
        if self.busy:
            self._compact()
            self._forward_all()
        return list(complete)

    def _split(self, complete: Collection[RunningRequest]) -> None:
        """Give requests of a row that go on differently, or end, rows of their own."""
        apart: list[tuple[int, list[RunningRequest]]] = []
        for row, sharing in enumerate(self.rows):
            parts: dict[tuple[int, bool], list[RunningRequest]] = {}
            for request in sharing:
                parts.setdefault((request.ids[-1], request in complete), []).append(request)
            if parts:
                self.rows[row], *others = parts.values()
                apart += [(row, part) for part in others]
        if not apart:
            return
        rows = self._make_room(len(apart), 0, self._cache, self._logits)
        new, old = torch.tensor([rows, [row for row, _ in apart]], device=self._mask.device)
        self._mask[new] = self._mask[old]
        for layer in self._cache.layers:
            for states in (layer.keys, layer.values):
                states[new] = states[old]
        for row, (source, part) in zip(rows, apart, strict=True):
            self.rows[row], self._text_of[row] = part, self._text_of[source]

    # ---- sampling ----

    def _sample(self, running: Sequence[tuple[int, RunningRequest]], temperature: float) -> None:
        rows = [row for row, _ in running]
        logits = self._logits if rows == list(range(len(self.rows))) else self._logits[rows]
        logits = _with_allowed_only(logits, [request.request.allowed_ids for _, request in running])
        values = [[request.noise[len(request.ids)]] for _, request in running]
        noise = torch.tensor(values, dtype=torch.float64, device=logits.device)
        ids, logprobs = sample_tokens(logits, temperature, noise)
        for (row, request), token, logprob in zip(running, ids, logprobs, strict=True):
            if (alternative := request.request.alternatives.get(token)) is not None:
                # Logits differ as log-probabilities do: the normaliser is the same.
                difference = float(self._logits[row, alternative] - self._logits[row, token])
                request.alternatives[len(request.ids)] = logprob + difference / (temperature or 1.0)
            request.ids.append(token)
            request.logprobs.append(logprob)

    def _forward_all(self) -> None:
        """Read the last id of every running row. Parked rows get a masked column, free rows a meaningless one."""
        device = self._mask.device
        ids = [[sharing[0].ids[-1] if sharing else self.pad_id] for sharing in self.rows]
        positions = [[sharing[0].length - 1 if sharing else 0] for sharing in self.rows]
        column = [[0 if row in self._parked else 1] for row in range(len(self.rows))]
        self._mask = torch.cat([self._mask, torch.tensor(column, device=device)], dim=1)
        read, at = torch.tensor(ids, device=device), torch.tensor(positions, device=device)
        if self._graphs is not None and self._graphs.usable:
            remaining = max(one.request.max_tokens - len(one.ids) for sharing in self.rows for one in sharing)
            self._logits = self._graphs.logits(self._cache, read, self._mask, at, remaining)
            return
        step = None
        if self._by_steps:
            shared = self._shared if any(text is not None for text in self._text_of) else None
            step = StepAttention(self._cache.layers, self._mask, shared, self._text_of)
        self._logits = self._forward(read, self._mask, at, self._cache, step)

    def _forward(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor,
        positions: torch.Tensor,
        cache: Any,
        step: StepAttention | None = None,
    ) -> torch.Tensor:
        with grouped_heads(self.model, step):
            out = self.model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=positions,
                use_cache=True,
                logits_to_keep=1,
                **{CACHE_ARGUMENT: cache},
            )
        logits: torch.Tensor = out.logits[:, -1].float()
        return logits

    # ---- reading prompts ----

    def _known(self, prompt: tuple[int, ...]) -> tuple[int, States | None, int | None]:
        """How many first ids of the prompt have states, the states, and the row they are parked in."""
        if self.static:
            return 0, None, None
        length, states = self.prefixes.longest(prompt)
        text = None if self._shared is None else self._shared.text_of(prompt[:-1], len(prompt))
        if self._shared is not None and text is not None and length < len(self._shared.texts[text]):
            length, states = len(self._shared.texts[text]), self._shared.states(text)
        found: int | None = None
        for row, parked in self._parked.items():
            n = len(parked.ids)
            # The last id comes first: most rows differ there, and comparing all ids takes long.
            if length < n < len(prompt) and prompt[n - 1] == parked.ids[-1] and prompt[:n] == parked.ids:
                length, states, found = n, self._states(row, parked), row
        return length, states, found

    def _states(self, row: int, parked: _Parked) -> States:
        """The states parked in a row: views, or copies if the row begins with a shared text."""
        start = parked.end - len(parked.ids) + self._skipped(row)
        own = [
            (layer.keys[row, :, start : parked.end], layer.values[row, :, start : parked.end])
            for layer in self._cache.layers
        ]
        if self._shared is None or (text := self._text_of[row]) is None:
            return own
        both = zip(self._shared.states(text), own, strict=True)
        return [(torch.cat((one[0], two[0]), 1), torch.cat((one[1], two[1]), 1)) for one, two in both]

    def _skipped(self, row: int) -> int:
        """The number of first ids of a row whose states are those of a shared text."""
        text = self._text_of[row]
        return 0 if self._shared is None or text is None else len(self._shared.texts[text])

    def _padded(self, texts: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and mask, [texts, longest], padded on the left, on the model's device."""
        width = max(map(len, texts))
        ids = [[self.pad_id] * (width - len(text)) + list(text) for text in texts]
        mask = [[0] * (width - len(text)) + [1] * len(text) for text in texts]
        return torch.tensor(ids, device=self.model.device), torch.tensor(mask, device=self.model.device)

    def _start(self, requests: Sequence[RunningRequest], prompts: Sequence[tuple[int, ...]]) -> None:
        """Begin a batch: the cache that the prompts are read into becomes the batch's."""
        self.release()
        if not self._selects:
            prompts = [request.prompt for request in requests]
        self._text_of = [None] * len(prompts)
        ids, self._mask = self._padded(prompts)
        self._cache = preallocated_cache(self.model.config)
        positions = (self._mask.cumsum(1) - 1).clamp(min=0)
        self._logits = self._forward(ids, self._mask, positions, self._cache)
        if self.static:
            if len(prompts) < len(requests):
                index_of = {prompt: number for number, prompt in enumerate(prompts)}
                self._select([index_of[request.prompt] for request in requests])
            self.rows, self._text_of = [[request] for request in requests], [None] * len(requests)
            return
        for row, prompt in enumerate(prompts):  # for requests of the same group that come later
            self._keep(row, prompt[:-1])
        if len(prompts) < len(requests) and min(map(len, prompts)) > 1 and self._by_steps:
            before = [(layer.keys[:, :, :-1], layer.values[:, :, :-1]) for layer in self._cache.layers]
            self._shared = SharedTexts([prompt[:-1] for prompt in prompts], before, self._mask[:, :-1])
            self._text_of = list(range(len(prompts)))
            self._drop_left(self._mask.shape[1] - 1)
        for layer in self._cache.layers:
            layer.reserve(rows=len(requests) - len(prompts))
        self.rows = _by_prompt(requests, prompts)

    @torch.inference_mode()
    def _hold_beginnings(self, prompts: Sequence[tuple[int, ...]]) -> None:
        """Before the first prompts are read: read what they begin with, and hold it beside the cache."""
        texts = _beginnings(prompts, self.prefixes.min_shared or 1)
        if not texts or not self._by_steps or self.busy or self._parked:
            return
        found = list[States]()
        for text in texts:
            length, states = self.prefixes.longest((*text, -1))
            if length < len(text):
                _, cache = self._read([text], [(length, states)])
                self.prefixes.put(text, [(layer.keys[0], layer.values[0]) for layer in cache.layers])
                length, states = self.prefixes.longest((*text, -1))
            if states is None or length < len(text):  # too large to keep
                return
            found.append(states)
        width, (_, mask) = max(map(len, texts)), self._padded(texts)

        def stacked(layer: int, part: int) -> torch.Tensor:
            own = [states[layer][part][:, : len(text)] for text, states in zip(texts, found, strict=True)]
            return torch.stack([pad(one, (0, 0, width - one.shape[1], 0)) for one in own])

        layers = [(stacked(number, 0), stacked(number, 1)) for number in range(len(found[0]))]
        self._shared = SharedTexts(texts, layers, mask)

    def _join(
        self,
        requests: Sequence[RunningRequest],
        prompts: Sequence[tuple[int, ...]],
        known: dict[tuple[int, ...], tuple[int, States | None, int | None]],
    ) -> None:
        """Read prompts apart from the running batch and copy their states into it."""
        lengths = [known[prompt][0] for prompt in prompts]
        logits, cache = self._read(prompts, [known[prompt][:2] for prompt in prompts])
        # Only after the reading: the states that were read may be views of these rows.
        for row, count in Counter(known[request.prompt][2] for request in requests).items():
            if row is not None:  # another of its requests may go on later
                (self._spill if count < self._parked[row].requests else self._free)(row)
        shared = self._shared
        texts = [None if self._shared is None else self._shared.text_of(p, known[p][0]) for p in prompts]
        skipped = [0 if self._shared is None or text is None else len(self._shared.texts[text]) for text in texts]
        own = [len(prompt) - skip for prompt, skip in zip(prompts, skipped, strict=True)]
        rows = self._make_room(len(prompts), max(own), cache, logits)
        for layer in self._cache.layers:
            layer.reserve(rows=len(requests) - len(prompts))
        if any(text is not None for text in texts):
            self._shared = shared  # the only row that began with it may have been freed
        old, columns = max(lengths), cache.get_seq_length()
        for number, (row, prompt, sharing) in enumerate(zip(rows, prompts, _by_prompt(requests, prompts), strict=True)):
            length = lengths[number] - skipped[number]
            start, rest = self._mask.shape[1] - own[number], own[number] - length
            self.rows[row], self._logits[row], self._text_of[row] = sharing, logits[number], texts[number]
            self._mask[row, :start], self._mask[row, start:] = 0, 1
            for layer, read in zip(self._cache.layers, cache.layers, strict=True):
                for target, states in ((layer.keys, read.keys), (layer.values, read.values)):
                    target[row, :, start : start + length] = states[number, :, old - length : old]
                    target[row, :, start + length :] = states[number, :, columns - rest :]
            if not lengths[number]:
                self._keep(row, prompt[:-1])

    def _read(
        self, prompts: Sequence[tuple[int, ...]], known: Sequence[tuple[int, States | None]]
    ) -> tuple[torch.Tensor, DynamicCache]:
        """Run the unknown part of each prompt through the model.

        Returns the logits after each prompt, and a cache whose columns are the known states and then the new ones,
        each padded on the left to the longest.
        """
        cache, old = preallocated_cache(self.model.config), max(length for length, _ in known)
        ids, mask = self._padded([prompt[length:] for prompt, (length, _) in zip(prompts, known, strict=True)])
        if old:
            before = torch.tensor([[0] * (old - length) + [1] * length for length, _ in known], device=mask.device)
            mask = torch.cat([before, mask], dim=1)
            for number, layer in enumerate(cache.layers):
                texts = [None if states is None else states[number] for _, states in known]
                layer.load(texts, [length for length, _ in known])
        positions = (mask.cumsum(1) - 1).clamp(min=0)[:, old:]
        return self._forward(ids, mask, positions, cache), cache

    # ---- rows and columns ----

    def _make_room(self, count: int, width: int, like: DynamicCache, logits: torch.Tensor) -> list[int]:
        """`count` rows for texts, and columns for the longest of them."""
        if not self.rows:
            for number, layer in enumerate(like.layers):
                self._cache.update(layer.keys[:0, :, :0], layer.values[:0, :, :0], number)
            self._logits = logits[:0]
        free = [row for row, sharing in enumerate(self.rows) if not sharing and row not in self._parked]
        for row in sorted(self._parked, key=lambda row: self._parked[row].step)[: max(count - len(free), 0)]:
            self._spill(row)
            free.append(row)
        more, left = max(count - len(free), 0), max(width - self._mask.shape[1], 0)
        if more or left:
            self._mask = pad(self._mask, (left, 0, 0, more))
            self._logits = pad(self._logits, (0, 0, 0, more))
            for layer in self._cache.layers:
                layer.extend(rows=more, left=left)
            for parked in self._parked.values():
                parked.end += left
        free += range(len(self.rows), len(self.rows) + more)
        self.rows += [[] for _ in range(more)]
        self._text_of += [None] * more
        return free[:count]

    def _free(self, row: int) -> None:
        self.rows[row], self._text_of[row] = [], None
        self._parked.pop(row, None)
        self._mask[row] = 0
        if not any(text is not None for text in self._text_of):
            self._shared = None

    def _keep(self, row: int, ids: tuple[int, ...]) -> None:
        """Copy the states of a row without its last column to the prefix cache."""
        self.prefixes.put(ids, self._states(row, _Parked(ids, self._mask.shape[1] - 1, 0, 0)))

    def _spill(self, row: int) -> None:
        """Move the states parked in a row to the prefix cache."""
        self.prefixes.put(self._parked[row].ids, self._states(row, self._parked[row]))
        self._free(row)

    def _compact(self) -> None:
        """Drop columns on the left that no row needs, and unused rows once it is worth a copy. The next turn of a
        request may join before the next step, so freshly parked rows stay."""
        fresh = {row for row, parked in self._parked.items() if parked.step == self._steps}
        used = [row for row, sharing in enumerate(self.rows) if sharing or row in fresh]
        if self._selects and len(used) <= _WORTH_COPYING * len(self.rows):
            for row in [row for row in self._parked if row not in fresh]:
                self._spill(row)
            first = [row for row in used if row < len(used)]
            last = iter(used[len(first) :])  # these fill the gaps between the first: fewer rows move
            self._select([row if row in first else next(last) for row in range(len(used))])
        width = self._mask.shape[1]
        starts = [parked.end - len(parked.ids) + self._skipped(row) for row, parked in self._parked.items()]
        lengths = [(row, sharing[0].length) for row, sharing in enumerate(self.rows) if sharing]
        unused = min([*starts, *(width - length + 1 + self._skipped(row) for row, length in lengths)])
        if unused and not self.static:
            self._drop_left(unused)

    def _drop_left(self, columns: int) -> None:
        self._mask = self._mask[:, columns:]
        for layer in self._cache.layers:
            layer.drop_left(columns)
        for parked in self._parked.values():
            parked.end -= columns

    def _select(self, rows: Sequence[int]) -> None:
        """Keep these rows of the batch, in this order."""
        index = torch.tensor(rows, device=self._mask.device)
        self._cache.batch_select_indices(index)
        self._mask, self._logits = self._mask[index], self._logits[index]
        if self.rows:
            self._parked = {new: self._parked[old] for new, old in enumerate(rows) if old in self._parked}
            self.rows, self._text_of = [self.rows[row] for row in rows], [self._text_of[row] for row in rows]

    def _reset(self) -> None:
        if self._graphs is not None:
            self._graphs.clear()
        self.rows, self._shared, self._text_of = [], None, []
        self._cache = preallocated_cache(self.model.config)
        self._mask = torch.zeros(0, 0, dtype=torch.long, device=self.model.device)
        self._logits = torch.zeros(0, 0, device=self.model.device)


def _by_prompt(requests: Sequence[RunningRequest], prompts: Sequence[tuple[int, ...]]) -> list[list[RunningRequest]]:
    """The requests of each prompt."""
    found: dict[tuple[int, ...], list[RunningRequest]] = {prompt: [] for prompt in prompts}
    for request in requests:
        found[request.prompt].append(request)
    return list(found.values())


def _beginnings(prompts: Sequence[tuple[int, ...]], least: int) -> list[tuple[int, ...]]:
    """What several prompts begin with, if it has `least` ids and is a third of each of them. Without their last id,
    which is read for the distribution of the next one."""
    groups: list[tuple[tuple[int, ...], int, int]] = []
    for prompt in sorted(prompts):
        beginning, count, longest = groups[-1] if groups else ((), 0, 0)
        shared, longest = shared_length(beginning, prompt[:-1]), max(longest, len(prompt))
        if shared >= max(least, longest // 3):
            groups[-1] = beginning[:shared], count + 1, longest
        else:
            groups.append((prompt[:-1], 1, len(prompt)))
    return [beginning for beginning, count, _ in groups if count > 1]


def _with_allowed_only(logits: torch.Tensor, allowed: Sequence[frozenset[int] | None]) -> torch.Tensor:
    """The logits with minus infinity for the ids that a row may not sample."""
    restricted = [row for row, ids in enumerate(allowed) if ids is not None]
    if not restricted:
        return logits
    masked = logits.clone()
    masked[restricted] = -torch.inf
    for row in restricted:
        ids = torch.tensor(sorted(allowed[row] or ()), device=logits.device)
        masked[row, ids] = logits[row, ids]
    return masked
