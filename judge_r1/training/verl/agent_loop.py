"""Our episode inside verl: an agent loop that is as thin as the other drivers.

It builds the prompt with our codec, lets verl's rollout server sample, feeds what was sampled to the episode, searches
in the pair's own case, and hands back the episode's ids, mask and log-probabilities with its reward. A server or a
search that gives no answer in time ends the episode as an infrastructure failure: nothing of it is trained on.
"""

import asyncio
import functools
import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import ReasoningPair, Trajectory, content_hash
from judge_r1.episode.machine import Episode, Finished, Sample
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import case_search, new_episode, new_retriever
from judge_r1.episode.tags import STOP_STRINGS
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.hub import eos_ids, load_tokenizer
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.verl.reward import FIELD, flat_breakdown
from judge_r1.training.verl.rollout_log import RolloutLog
from retrieval.retriever import Retriever

GENERATION_SECONDS, SEARCH_SECONDS = 600.0, 300.0
"""Deadlines of one turn and of one search, queues included."""

_log = logging.getLogger(__name__)


class NoAnswer(Exception):
    """The rollout server answered with nothing that the episode can go on with."""


@dataclass(frozen=True)
class Shared:
    """What all episodes of a worker process have in common; loaded once."""

    recipe: Recipe
    data: PairSet
    pairs: dict[str, ReasoningPair]
    codec: SafeTokenizer
    stops: frozenset[int]
    retriever: Retriever
    log: RolloutLog


@functools.lru_cache(maxsize=1)
def load_shared(recipe: str, data: str, rollouts: str) -> Shared:
    """The recipe and the pairs of two paths, and a log in the folder `rollouts`."""
    config, pairs = load_recipe(Path(recipe)), load_pairs(Path(data))
    tokenizer = load_tokenizer(config.model)
    return Shared(
        recipe=config,
        data=pairs,
        pairs=pairs.by_id(),
        codec=SafeTokenizer(tokenizer),
        stops=eos_ids(config.model, tokenizer),
        retriever=new_retriever(pairs.texts, config.episode),
        log=RolloutLog(Path(rollouts), config.grpo.traced_pairs),
    )


@dataclass
class _EpisodeRun:
    """One episode under way, with the seconds it spent and the versions of the weights it was sampled from."""

    episode: Episode
    seconds: dict[str, float] = field(default_factory=lambda: {"generation": 0.0, "search": 0.0})
    versions: list[int] = field(default_factory=list)


class JudgeAgentLoop(AgentLoopBase):  # type: ignore[misc]
    """verl makes one for each episode and calls `run`. `recipe`, `data` and `rollouts` are paths (`load_shared`)."""

    def __init__(
        self,
        *args: Any,
        recipe: str,
        data: str,
        rollouts: str,
        generation_seconds: float = GENERATION_SECONDS,
        search_seconds: float = SEARCH_SECONDS,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.shared = load_shared(recipe, data, rollouts)
        self.generation_seconds, self.search_seconds = generation_seconds, search_seconds

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> AgentLoopOutput:
        """Play the pair that the row names. `kwargs` are the row's columns, `global_steps` and `session_id` (which
        episode of its group this is)."""
        shared = self.shared
        pair = shared.pairs[kwargs["extra_info"]["pair_id"]]
        step, session = int(kwargs.get("global_steps", 0)), int(kwargs.get("session_id", 0))
        play = _EpisodeRun(new_episode(pair, shared.data, shared.recipe.episode, shared.codec, shared.stops))
        request_id = uuid4().hex
        while not isinstance(state := play.episode.state, Finished):
            if isinstance(state, Sample):
                seed = content_hash(shared.recipe.seed, step, pair.pair_id, session, len(play.episode.token_ids))
                await self._sample(play, request_id, {**sampling_params, **self._limits(state, seed)})
            else:
                await self._search(play, pair, state.query)
        trajectory = with_reward(play.episode.trajectory(), pair)
        versions = play.versions or [max(step - 1, 0)]  # of an episode that was lost before it began
        weights = min(versions), max(versions)
        shared.log.write(step, session, pair, trajectory, seconds=play.seconds, weights=weights)
        return self._output(trajectory, play, weights)

    def _limits(self, state: Sample, seed: str) -> dict[str, Any]:
        """Where to stop. Our CPU server also takes a seed, so that its runs repeat."""
        limits: dict[str, Any] = {
            "stop": list(STOP_STRINGS),
            "stop_token_ids": sorted(self.shared.stops),
            "include_stop_str_in_output": True,
            "max_tokens": state.max_tokens,
        }
        if self.rollout_config.name == "judge_r1_cpu":
            limits["seed"] = int(seed, 16) % 2**63
        return limits

    async def _sample(self, play: _EpisodeRun, request_id: str, sampling_params: dict[str, Any]) -> None:
        episode, started = play.episode, time.monotonic()
        try:
            output = await asyncio.wait_for(
                self.server_manager.generate(
                    request_id=request_id,
                    prompt_ids=[*episode.prompt_ids, *episode.token_ids],
                    sampling_params=sampling_params,
                ),
                self.generation_seconds,
            )
            if not output.token_ids or output.log_probs is None:
                raise NoAnswer("no ids" if output.log_probs is not None else "no log-probabilities")
        except Exception as error:
            self._fail(episode, "generation", error)
        else:
            episode.feed(output.token_ids, output.log_probs)
            if (version := output.extra_fields.get("global_steps")) is not None:
                play.versions.append(version)
        play.seconds["generation"] += time.monotonic() - started

    async def _search(self, play: _EpisodeRun, pair: ReasoningPair, query: str) -> None:
        episode, started = play.episode, time.monotonic()
        top_k = self.shared.recipe.episode.budget.top_k
        try:
            passages = await asyncio.wait_for(
                asyncio.to_thread(case_search, self.shared.retriever, pair.case_id, query, top_k), self.search_seconds
            )
        except Exception as error:
            self._fail(episode, "search", error)
        else:
            episode.observe(passages)
        play.seconds["search"] += time.monotonic() - started

    @staticmethod
    def _fail(episode: Episode, stage: str, error: Exception) -> None:
        late = isinstance(error, asyncio.TimeoutError)  # not the builtin before Python 3.11
        _log.error("an episode is lost in %s: %s", stage, "deadline passed" if late else error, exc_info=not late)
        episode.abort(f"{stage}_{'timeout' if late else 'error'}")

    def _output(self, trajectory: Trajectory, play: _EpisodeRun, weights: tuple[int, int]) -> AgentLoopOutput:
        """The trajectory in verl's words. A lost episode has mask 0 everywhere; verl wants one id at least."""
        ids, mask, logprobs = list(trajectory.token_ids), list(trajectory.loss_mask), list(trajectory.logprobs)
        if trajectory.infrastructure_failed:
            ids, logprobs = ids or [min(self.shared.stops)], logprobs or [0.0]
            mask = [0] * len(ids)
        if len(ids) > self.rollout_config.response_length:
            raise RuntimeError(
                f"an episode has {len(ids)} tokens, over rollout.response_length {self.rollout_config.response_length}"
            )
        return AgentLoopOutput(
            prompt_ids=list(trajectory.prompt_ids),
            response_ids=ids,
            response_mask=mask,
            response_logprobs=logprobs,
            num_turns=1 + sum(1 + (turn.observation is not None) for turn in trajectory.turns),
            metrics=AgentLoopMetrics(generate_sequences=play.seconds["generation"], tool_calls=play.seconds["search"]),
            extra_fields={
                FIELD: flat_breakdown(trajectory),
                "ended": trajectory.ended,
                "min_global_steps": weights[0],
                "max_global_steps": weights[1],
                "turn_scores": [],
                "tool_rewards": [],
            },
        )
