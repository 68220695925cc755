"""The local model as a server of its own: episodes come one by one and share the steps of one batch."""

import asyncio
import time
from collections.abc import Mapping

from judge_r1.core.records import content_hash
from judge_r1.episode.machine import Episode, Finished, Sample
from judge_r1.episode.tags import STOP_STRINGS
from judge_r1.models.continuous.engine import Engine
from judge_r1.models.continuous.request import Request
from judge_r1.models.episode_driver import CaseSearch, Usage, search_into
from judge_r1.models.step_callback import notify_step

GENERATION_S = 600.0
"""Deadline of one turn, with the wait for a row of the batch."""


class LocalBackend:
    """An engine under one temperature; `flips` as for the other backends."""

    def __init__(self, engine: Engine, *, temperature: float = 0.0, flips: Mapping[int, int] | None = None) -> None:
        self._engine, self._temperature, self._flips = engine, temperature, flips or {}

    async def aclose(self) -> None:
        await asyncio.to_thread(self._engine.close)

    async def run_episode(self, episode: Episode, search: CaseSearch, usage: Usage) -> None:
        """The episode to its end. Cancelled, its request leaves the batch."""
        while not isinstance(episode.state, Finished):
            if isinstance(episode.state, Sample):
                await self._turn(episode, episode.state.max_tokens, usage)
            else:
                await search_into(episode, search)

    async def _turn(self, episode: Episode, max_tokens: int, usage: Usage) -> None:
        started, before = time.monotonic(), len(episode.token_ids)
        request = Request(
            [*episode.prompt_ids, *episode.token_ids],
            max_tokens=max_tokens,
            temperature=self._temperature,
            stop=STOP_STRINGS if episode.answer_in_tags else (),
            seed=int(content_hash(episode.seed, before), 16) % 2**63,
            rival_of=self._flips,
        )
        try:
            await asyncio.wait_for(self._engine.generate(request), GENERATION_S)
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            episode.abort("generation_timeout")
            return
        usage.seconds += time.monotonic() - started
        usage.calls += 1
        usage.input_tokens += len(request.prompt)
        usage.output_tokens += len(request.ids)
        episode.alternative_logprobs |= {before + place: logprob for place, logprob in request.rivals.items()}
        episode.feed(request.ids, request.logprobs)
        notify_step(episode)
