"""Runs episodes on a token model: samples through `LanguageModel.generate`, searches, until the state machine ends.

An infrastructure failure ends its episode as `infrastructure_…`: the episode is not scored, and run again on resume. A
declined answer (`context_overflow`, `content_filter`) ends it as invalid, under that name.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

from judge_r1.core.event_loop import run_sync
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.machine import Call, Episode, Finished, Sample, Search
from judge_r1.episode.tools.base import TOOLS, ToolResult
from judge_r1.models.base import GenerateRequest, Generation, LanguageModel, Usage
from retrieval.errors import SearchTimeout

T = TypeVar("T")
StepCallback = Callable[[Episode], None]
_callback: ContextVar[StepCallback | None] = ContextVar("step_callback", default=None)


@contextmanager
def step_callback(callback: StepCallback | None) -> Iterator[None]:
    """Within the block, and in tasks started in it, `callback` receives every episode after each of its steps."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


async def run_to_end(
    episode: Episode, sample: Callable[[int], Awaitable[None]], search: Callable[[str], Awaitable[None]]
) -> None:
    """Run one episode to its end: the loop of all drivers.

    `sample` gets the number of tokens that the turn may still have, and feeds the episode some of them. `search` gets
    the query and lets the episode observe the passages. Either may end the episode instead. Tools run here. The
    callback of the current context receives the episode after each step.
    """
    while not isinstance(state := episode.state, Finished):
        if isinstance(state, Sample):
            await sample(state.max_tokens)
        elif isinstance(state, Search):
            await search(state.query)
        else:
            await call_into(episode)
        if (callback := _callback.get()) is not None:
            callback(episode)


SEARCH_S = 300.0
"""Deadline of one search or call, the wait in queues included."""
CaseSearch = Callable[[str], list[Evidence]]
"""Searches the one case of an episode."""
SearchFunction = Callable[[Sequence[tuple[int, str]]], list[list[Evidence]]]
"""Searches for several episodes at once: (index of the episode, query) -> passages, in the same order."""
_log = logging.getLogger(__name__)
_lost: dict[str, tuple[int, float]] = {}
"""Reason -> how many episodes were lost for it, and when the last was."""
_REASONS, _FORGOTTEN_S = 1_000, 600.0


class EpisodeRunner(Protocol):
    """Runs episodes to their end from synchronous code, as `EpisodeDriver` does."""

    def run_episodes(self, episodes: Sequence[Episode], search: SearchFunction, temperature: float) -> None: ...


class EpisodeDriver:
    """Runs episodes on `model`. `alternatives` maps a token id to the id whose log-probability is noted beside it
    (`judge_r1.episode.confidence.opposite_tokens`). Tokens are sampled by `episode.seed`."""

    def __init__(
        self, model: LanguageModel, *, temperature: float = 0.0, alternatives: Mapping[int, int] | None = None
    ) -> None:
        self.model, self._temperature, self._alternatives = model, temperature, alternatives or {}

    async def run_episode(self, episode: Episode, search: CaseSearch, usage: Usage) -> None:
        """Run one episode to its end. Searches run in a thread, under a deadline; what the calls use is added to
        `usage`.

        Raises:
            EndpointError: every other episode would fail in the same way.
        """
        sample = partial(self._sample, episode, self._temperature, usage)
        await run_to_end(episode, sample, partial(search_into, episode, search))

    async def run_together(self, episodes: Sequence[Episode], search: SearchFunction, temperature: float) -> None:
        """Run episodes to their end side by side. The searches of episodes that wait at the same time are one call of
        `search`, in this thread; its errors are raised."""
        searches = _SearchBatcher(search)

        async def run(index: int, episode: Episode) -> None:
            async def find(query: str) -> None:
                episode.observe(await searches.find(index, query))

            await run_to_end(episode, partial(self._sample, episode, temperature, Usage()), find)

        with step_callback(None):  # a listener follows one episode
            tasks = [asyncio.ensure_future(run(index, episode)) for index, episode in enumerate(episodes)]
        try:
            await asyncio.gather(*tasks)
        finally:
            # gather raises the first error and leaves the other tasks running.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def run_episodes(self, episodes: Sequence[Episode], search: SearchFunction, temperature: float) -> None:
        """`run_together` from synchronous code."""
        run_sync(self.run_together(episodes, search, temperature))

    async def _sample(self, episode: Episode, temperature: float, usage: Usage, max_tokens: int) -> None:
        """Sample the rest of a turn, or a part of it."""
        before = len(episode.token_ids)
        # The ids as sampled, never the text encoded again: a tokenizer may split it in another way.
        request = GenerateRequest(
            prompt_ids=(*episode.prompt_ids, *episode.token_ids),
            max_tokens=max_tokens,
            temperature=temperature,
            seed=episode.seed,
            seed_offset=before,
            stop=episode.stop_strings,
            stop_ids=episode.eos_ids,
            alternatives=self._alternatives,
        )
        [generation] = await self.model.generate([request])
        usage.add(generation.usage)
        if ended_by_model(episode, generation):
            return
        episode.alternative_logprobs |= {before + index: value for index, value in generation.alternatives.items()}
        episode.feed(generation.token_ids, generation.logprobs)


def ended_by_model(episode: Episode, generation: Generation) -> bool:
    """End the episode where the model failed or declined without an answer. Returns whether it did."""
    if generation.failure is not None:
        log_lost(f"({generation.failure}): {generation.error}")
        episode.abort(generation.failure, generation.error)
    elif generation.declined and not generation.text:
        episode.end(generation.finish_reason, generation.error)
    else:
        return False
    return True


def log_lost(why: str) -> None:
    """Log that an episode is lost. Of many with one reason, the first, the tenth, the hundredth … is logged, with the
    count, which begins again after ten minutes without one."""
    if len(_lost) > _REASONS:
        _lost.clear()
    before, last = _lost.get(why, (0, 0.0))
    now = monotonic()
    count = before + 1 if now - last < _FORGOTTEN_S else 1
    _lost[why] = count, now
    if str(count).strip("0") == "1":
        _log.error("%s %s", "an episode is lost" if count == 1 else f"{count} episodes are lost", why)


class ServerSearch:
    """A search of one case that waits for a server.

    Each has a thread of its own. The threads of an event loop are few, and a search without an answer keeps its thread
    until its deadline: the searches of other episodes would wait behind it, and be late, too."""

    def __init__(self, search: CaseSearch) -> None:
        self._search = search

    def __call__(self, query: str) -> list[Evidence]:
        return self._search(query)


async def _in_thread(search: CaseSearch, query: str) -> list[Evidence]:
    if not isinstance(search, ServerSearch):
        return await asyncio.to_thread(search, query)
    thread = ThreadPoolExecutor(1, "search")
    try:
        return await asyncio.get_running_loop().run_in_executor(thread, search, query)
    finally:
        thread.shutdown(wait=False)


async def search_into(episode: Episode, search: CaseSearch, query: str, deadline_s: float = SEARCH_S) -> None:
    """Run the search for the query that the episode waits for, in a thread. A failed, late or cancelled search ends the
    episode."""
    await _observe(episode, "search", _in_thread(search, query), episode.observe, deadline_s)


async def call_into(episode: Episode, deadline_s: float = SEARCH_S) -> None:
    """Run the tool that the episode waits for, in a thread. A tool that fails itself or is late ends the episode; an
    input that is wrong or hits a limit does not."""
    await _observe(episode, "tool", asyncio.to_thread(tool_result, episode), episode.observe_result, deadline_s)


async def _observe(
    episode: Episode, what: str, running: Awaitable[T], observe: Callable[[T], object], deadline_s: float
) -> None:
    try:
        result = await asyncio.wait_for(running, deadline_s)
    except (asyncio.TimeoutError, SearchTimeout):  # the first is not the builtin before Python 3.11
        log_lost(f"({what}_timeout): a {what} had no result within {deadline_s:g} s")
        episode.abort(f"{what}_timeout")
    except asyncio.CancelledError:
        # The episode is ended first: a framework that catches the error and scores the episode sees no judgment.
        episode.abort(f"{what}_cancelled")
        raise
    except Exception:
        # Of whatever kind: a defect of the search must neither end the run nor count against the judge.
        _log.exception("an episode is lost in a %s", what)
        episode.abort(f"{what}_error")
    else:
        observe(result)


def tool_result(episode: Episode) -> ToolResult:
    """The result of the tool that the episode waits for. Raises: ToolFailed."""
    assert isinstance(episode.state, Call)
    name, text = episode.state.tool, episode.state.text
    return TOOLS.get(name).run(text, episode.scope, episode.budget.tool_budgets[name])


async def act_into(episode: Episode, search: CaseSearch, deadline_s: float = SEARCH_S) -> None:
    """Run the search or the tool that the episode waits for, if it waits for one."""
    if isinstance(episode.state, Search):
        await search_into(episode, search, episode.state.query, deadline_s)
    elif isinstance(episode.state, Call):
        await call_into(episode, deadline_s)


class _SearchBatcher:
    """Gathers the queries of one round of the event loop into one call."""

    def __init__(self, search: SearchFunction) -> None:
        self._search = search
        self._waiting: list[tuple[int, str, asyncio.Future[list[Evidence]]]] = []

    async def find(self, index: int, query: str) -> list[Evidence]:
        loop = asyncio.get_running_loop()
        if not self._waiting:
            # Runs after all episodes that are ready in this round of the loop have asked.
            loop.call_soon(self._flush)
        future: asyncio.Future[list[Evidence]] = loop.create_future()
        self._waiting.append((index, query, future))
        return await future

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        try:
            found = self._search([(index, query) for index, query, _ in waiting])
            for (_, _, future), passages in zip(waiting, found, strict=True):
                if not future.done():  # done where its episode was cancelled
                    future.set_result(passages)
        except Exception as error:
            for _, _, future in waiting:
                if not future.done():
                    future.set_exception(error)
