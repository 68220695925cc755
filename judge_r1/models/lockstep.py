"""Local generation with transformers: many episodes in lock-step, one key-value cache kept over all their turns."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from judge_r1.episode.machine import Episode, Finished, Search
from judge_r1.models.base import SearchFunction
from judge_r1.models.sampling import preallocated_cache, sample_tokens, uniform_noise

_WORTH_COPYING = 0.75
"""Finished rows leave the batch once no more than this share is left: leaving copies the whole cache."""


class TransformersBackend:
    """`model` is a causal LM in eval mode or not (it is put back as it was); `batch_size` episodes run at a time.
    `flips` names the rival of each id whose rival's log-probability is to be noted (`judge_r1.episode.confidence`)."""

    def __init__(
        self, model: Any, *, pad_id: int, batch_size: int = 64, flips: Mapping[int, int] | None = None
    ) -> None:
        self.model, self.pad_id, self.batch_size, self.flips = model, pad_id, batch_size, flips or {}

    @torch.no_grad()
    def run_episodes(self, episodes: Sequence[Episode], search: SearchFunction, temperature: float) -> None:
        """Episodes are batched by prompt length; the order of results is the caller's, whatever the batching."""
        order = sorted(range(len(episodes)), key=lambda i: len(episodes[i].prompt_ids))
        training = self.model.training
        self.model.eval()
        try:
            for start in range(0, len(order), self.batch_size):
                batch = order[start : start + self.batch_size]
                _Batch(self.model, self.pad_id, [(i, episodes[i]) for i in batch], self.flips).run(search, temperature)
        finally:
            self.model.train(training)


class _Batch:
    """Rows of one lock-step run. Each step feeds every live row the same number of ids: one sampled id, or ids of
    an observation that the row still has to read. Finished rows idle until enough of them leave together."""

    def __init__(self, model: Any, pad_id: int, rows: list[tuple[int, Episode]], flips: Mapping[int, int]) -> None:
        self.model, self.rows, self.flips = model, rows, flips
        longest = max(len(episode.prompt_ids) for _, episode in rows)
        ids = torch.full((len(rows), longest), pad_id, device=model.device)
        self.mask = torch.zeros_like(ids)
        for row, (_, episode) in enumerate(rows):
            prompt = episode.prompt_ids
            ids[row, longest - len(prompt) :] = torch.tensor(prompt, device=model.device)
            self.mask[row, longest - len(prompt) :] = 1
        self.positions = (self.mask.cumsum(1) - 1).clamp(min=0)
        self.ids, self.pad_id, self.cache = ids, pad_id, preallocated_cache(model.config)
        self.unread: list[list[int]] = [[] for _ in rows]
        self.chances = torch.stack([uniform_noise(e.seed, e.budget.episode_tokens) for _, e in rows])

    def run(self, search: SearchFunction, temperature: float) -> None:
        while self.rows:
            logits = self._forward()
            written = torch.tensor([len(episode.token_ids) for _, episode in self.rows])
            chance = self.chances.gather(1, written.clamp(max=self.chances.shape[1] - 1)[:, None])
            tokens, logprobs = sample_tokens(logits, temperature, chance.to(logits.device))
            searching: list[int] = []
            for row, (_, episode) in enumerate(self.rows):
                if self.unread[row] or isinstance(episode.state, Finished):
                    continue
                before = len(episode.token_ids)
                if (rival := self.flips.get(tokens[row])) is not None:
                    behind = float(logits[row, rival] - logits[row, tokens[row]])
                    episode.alternative_logprobs[before] = logprobs[row] + behind / (temperature or 1.0)
                episode.feed([tokens[row]], [logprobs[row]])
                self.unread[row] = episode.token_ids[before:]  # the id, and the notice if a search was refused
                if isinstance(episode.state, Search):
                    searching.append(row)
            if searching:
                queries = [(self.rows[row][0], self._query(row)) for row in searching]
                for row, passages in zip(searching, search(queries), strict=True):
                    self.unread[row] += self.rows[row][1].observe(passages)
            live = [row for row, (_, episode) in enumerate(self.rows) if not isinstance(episode.state, Finished)]
            if len(live) <= _WORTH_COPYING * len(self.rows):
                self._keep(live)
                live = list(range(len(live)))
            if live:
                self._next_ids(live)

    def _query(self, row: int) -> str:
        state = self.rows[row][1].state
        assert isinstance(state, Search)
        return state.query

    def _forward(self) -> torch.Tensor:
        out = self.model(
            input_ids=self.ids,
            attention_mask=self.mask,
            position_ids=self.positions,
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=1,
        )
        logits: torch.Tensor = out.logits[:, -1].float()
        return logits

    def _keep(self, rows: Sequence[int]) -> None:
        self.rows = [self.rows[row] for row in rows]
        self.unread = [self.unread[row] for row in rows]
        self.chances = self.chances[list(rows)]
        if rows:
            index = torch.tensor(rows, device=self.mask.device)
            self.cache.batch_select_indices(index)
            self.mask, self.positions = self.mask[index], self.positions[index]

    def _next_ids(self, live: Sequence[int]) -> None:
        """As many ids as every live row has to read: rows that sample have one, and wait for none."""
        count = min(len(self.unread[row]) for row in live)
        taken = [[self.pad_id] * count for _ in self.rows]
        for row in live:
            taken[row], self.unread[row] = self.unread[row][:count], self.unread[row][count:]
        self.ids = torch.tensor(taken, device=self.mask.device)
        self.mask = torch.cat([self.mask, torch.ones_like(self.ids)], dim=1)
        self.positions = self.positions[:, -1:] + torch.arange(1, count + 1, device=self.mask.device)
