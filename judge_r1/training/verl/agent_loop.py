"""verl's agent loop for our episode: a thin driver, like the local judge and the TRL rollout.

It samples from verl's rollout server, feeds the tokens to the episode, searches in the pair's own case, and returns the
episode's ids, mask, log-probabilities and reward. A server or search error or timeout ends the episode as an
infrastructure failure, and none of its tokens are trained on.
"""

import asyncio
import functools
import logging
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Trajectory
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.driver import SEARCH_S, log_lost, run_to_end, search_into
from judge_r1.episode.machine import Episode
from judge_r1.episode.questions import (
    PARTNER_FAILED,
    SIDES,
    Question,
    ScoreQuestion,
    Side,
    placement,
    question,
    rewarded,
    score_rewards,
    shown_order,
    with_score_rewards,
    with_tool_credit,
)
from judge_r1.episode.rollout import new_episode, pair_prompt_ids
from judge_r1.episode.tags import grammar
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PAIRS_FILE, PairSet, opened_pairs
from judge_r1.models.hub import eos_ids, load_tokenizer
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.verl.dataset import DEV
from judge_r1.training.verl.reward import FIELD, flat_breakdown
from judge_r1.training.verl.rollout_log import DEV_ROLLOUTS, RolloutLog
from judge_r1.training.verl.sampling_params import stop_params

MAX_OVERLOAD = 1.25
"""A group is split if one replica would otherwise get more than this multiple of the mean load."""


def replica_count(config: Any) -> int:
    """The number of rollout replicas under verl's configuration."""
    rollout = config.actor_rollout_ref.rollout
    gpus = config.trainer.nnodes * config.trainer.n_gpus_per_node
    size = rollout.tensor_model_parallel_size * rollout.data_parallel_size * rollout.pipeline_model_parallel_size
    return max(int(gpus // size), 1)


def parts_per_group(groups: int, group_size: int, replicas: int) -> int:
    """The smallest number of equal parts per group under which `groups` of one step load `replicas` evenly.

    One part computes a group's prompt once. With 8 groups on 16 replicas half of them would idle, so the answer is 2.
    """

    def overload(parts: int) -> float:
        return ceil(groups * parts / replicas) * replicas / (groups * parts)

    divisors = (parts for parts in range(1, group_size) if group_size % parts == 0)
    return next((parts for parts in divisors if overload(parts) <= MAX_OVERLOAD), group_size)


def routing_key(config: Any, group: str, session: int) -> str:
    """The `request_id` of episode number `session` of `group` (verl's `uid`), for all its turns.

    Under `full_determinism` verl uses it as vLLM's id, too, so it is unique per episode."""
    rollout = config.actor_rollout_ref.rollout
    if rollout.get("full_determinism", False):
        return f"{group}-{session}"
    parts = parts_per_group(config.data.train_batch_size, rollout.n, replica_count(config))
    return f"{group}-{session % parts}"


CACHED_PROMPTS = 1024
"""Prompts that a worker keeps, oldest dropped first. A step rarely has more pairs."""
GENERATION_SECONDS = 600.0
"""Deadline of one turn, the wait in queues included."""

_log = logging.getLogger(__name__)


class EmptyResponse(Exception):
    """The rollout server returned no ids or no log-probabilities."""


@dataclass(frozen=True)
class Shared:
    """State that all episodes of a worker process share; loaded once."""

    recipe: Recipe
    folder: Path
    tokenizer: SafeTokenizer
    stops: frozenset[int]
    log: RolloutLog
    dev: tuple[Path, RolloutLog] | None = None
    """The folder of the dev pairs, and the log of their episodes."""
    _prompts: dict[tuple[str, Hashable], "asyncio.Task[list[int]]"] = field(default_factory=dict)
    _pair_scores: dict[tuple[Any, ...], "_PairScores"] = field(default_factory=dict)
    _searchers: dict[Path, CaseSearcher] = field(default_factory=dict)

    def source(self, row: Mapping[str, Any]) -> tuple[Path, RolloutLog]:
        """The data folder of a row, and the log of its episodes. `extra_info.split` of dev pairs is `dev`."""
        if row["extra_info"].get("split") != DEV:
            return self.folder, self.log
        if self.dev is None:
            raise ValueError("a row has the split dev, and the recipe has no data.dev")
        return self.dev

    def find(self, row: Mapping[str, Any], session: int = 0) -> tuple[Question, PairSet]:
        """The question that a row names by `extra_info.pair_id` for an episode of its group, and the set that holds its
        case. Raises: JudgeError if there is no such pair."""
        (folder, log), grpo, key = self.source(row), self.recipe.grpo, row["extra_info"]["pair_id"]
        data, orders = opened_pairs(folder), grpo.orders if log is self.log else 1
        try:
            asked = question(key, data.by_id(), session, grpo.group_size, orders=orders, seed=self.recipe.seed)
        except KeyError:
            raise JudgeError(f"{folder / PAIRS_FILE} holds no pair {key}: was the file changed?") from None
        return asked, data

    def searcher(self, folder: Path) -> CaseSearcher:
        """The searcher of the cases of a data folder, created once."""
        if folder not in self._searchers:
            texts = opened_pairs(folder).texts
            self._searchers[folder] = CaseSearcher(texts, self.recipe.episode, device="cpu")
        return self._searchers[folder]

    async def new_episode(self, pair: Question, data: PairSet) -> Episode:
        """An episode of `pair`. Its prompt is tokenised once, in a thread, for all episodes of its group.

        The event loop serves all episodes of the worker, so a long encoding must not block it."""
        config, shown = self.recipe.episode, (pair.pair_id, placement(pair))
        if (prompt := self._prompts.get(shown)) is None or prompt.cancelled():
            while len(self._prompts) >= CACHED_PROMPTS:
                del self._prompts[next(iter(self._prompts))]
            prompt = asyncio.ensure_future(asyncio.to_thread(pair_prompt_ids, pair, data, config, self.tokenizer))
            self._prompts[shown] = prompt
        # Shielded: an episode that is cancelled must not take the prompt from the others of its group.
        ids = await asyncio.shield(prompt)
        return new_episode(pair, data, config, self.tokenizer, self.stops, prompt_ids=ids)

    async def scored(
        self, asked: ScoreQuestion, trajectory: Trajectory, rows: tuple[int, int], session: int, deadline_s: float
    ) -> Trajectory:
        """The trajectory with its reward, which needs the score of the other reasoning: waits until the episodes that
        it is compared with have ended. verl gives adjacent rows to one worker, so both reasonings are judged here.
        `rows` is the step and the number of their two rows: a step may hold a pair twice."""
        grpo = self.recipe.grpo
        sessions = range(grpo.group_size) if grpo.pointwise_pairs == "all" else (session,)
        key = *rows, sessions
        for old in [other for other in self._pair_scores if other[0] < rows[0]]:
            del self._pair_scores[old]  # a partner of an earlier step that never came
        scores = self._pair_scores.setdefault(key, _PairScores(asyncio.get_running_loop().create_future()))
        scores.arrived[asked.side, session] = trajectory
        if len(scores.arrived) == len(SIDES) * len(sessions):
            del self._pair_scores[key]
            sides = [[scores.arrived[side, number] for number in sessions] for side in SIDES]
            rewarded = score_rewards(asked.pair, *sides, pairs=grpo.pointwise_pairs)
            scores.rewarded.set_result(
                {
                    (side, number): t
                    for side, row in zip(SIDES, rewarded, strict=True)
                    for number, t in zip(sessions, row, strict=True)
                }
            )
        try:
            return (await asyncio.wait_for(asyncio.shield(scores.rewarded), deadline_s))[asked.side, session]
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            log_lost("(partner_missing): the other reasoning of its pair was not judged here in time")
            lost = trajectory.model_copy(update={"ended": PARTNER_FAILED})
            alone = ([lost], []) if asked.side == "reference" else ([], [lost])
            return next(filter(None, score_rewards(asked.pair, *alone, pairs="matched")))[0]


@dataclass
class _PairScores:
    """Episodes that wait for each other's scores, by side and session."""

    rewarded: "asyncio.Future[dict[tuple[Side, int], Trajectory]]"
    arrived: dict[tuple[Side, int], Trajectory] = field(default_factory=dict)


@functools.lru_cache(maxsize=1)
def load_shared(recipe: str, data: str, rollouts: str) -> Shared:
    """Load the recipe and the tokenizer, and open a log in the folder `rollouts`. All arguments are paths. Pairs and
    cases stay on disk."""
    config = load_recipe(Path(recipe))
    tokenizer = load_tokenizer(config.model)
    dev = config.data.dev and (config.data.dev, RolloutLog(Path(rollouts).with_name(DEV_ROLLOUTS), 0))
    shared = Shared(
        recipe=config,
        folder=Path(data),
        tokenizer=SafeTokenizer(tokenizer),
        stops=eos_ids(config.model, tokenizer),
        log=RolloutLog(Path(rollouts), config.grpo.traced_pairs),
        dev=dev or None,
    )
    shared.searcher(shared.folder)
    return shared


@dataclass
class _EpisodeRun:
    """A running episode, its seconds per stage, the versions of the weights that sampled it, and the ids that the
    server read: all, and those found in its prefix cache (if it says so)."""

    episode: Episode
    seconds: dict[str, float] = field(default_factory=lambda: {"generation": 0.0, "search": 0.0})
    versions: list[int] = field(default_factory=list)
    read_ids: int = 0
    cached_ids: int | None = None

    def weights(self, step: int) -> tuple[int, int]:
        """The first and last version of the weights that sampled the episode."""
        versions = self.versions or [max(step - 1, 0)]  # the episode failed before its first token
        return min(versions), max(versions)


class JudgeAgentLoop(AgentLoopBase):  # type: ignore[misc]
    """verl creates one per episode and calls `run`. `recipe`, `data` and `rollouts` are paths (see `load_shared`)."""

    def __init__(
        self,
        *args: Any,
        recipe: str,
        data: str,
        rollouts: str,
        generation_seconds: float = GENERATION_SECONDS,
        search_seconds: float = SEARCH_S,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.shared = load_shared(recipe, data, rollouts)
        self.generation_seconds, self.search_seconds = generation_seconds, search_seconds

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> AgentLoopOutput:
        """Run one episode of the row's question. `kwargs` holds the row's columns, `global_steps` (the step that
        requested it), `uid` (its group) and `session_id` (its number within the group)."""
        shared = self.shared
        step, session = int(kwargs.get("global_steps", 0)), int(kwargs.get("session_id", 0))
        _, log = shared.source(kwargs)
        asked, _ = shared.find(kwargs, session)
        run, trajectory = await self._judge(asked, sampling_params, kwargs)
        if isinstance(asked, ScoreQuestion) and log is shared.log:
            rows = step, int(kwargs["extra_info"]["index"]) // 2
            turns = shared.recipe.episode.effective_budget.turns
            deadline_s = turns * (self.generation_seconds + self.search_seconds)
            trajectory = await shared.scored(asked, trajectory, rows, session, deadline_s)
        elif isinstance(asked, ScoreQuestion):  # a row of dev pairs stands for both reasonings
            other = ScoreQuestion(asked.pair, "flawed")
            other_run, flawed = await self._judge(other, sampling_params, kwargs)
            both = with_score_rewards([(asked, trajectory), (other, flawed)], 1)
            self._log(kwargs, session + 1, other, both[1][1], other_run)
            trajectory = both[0][1]
        if shared.recipe.grpo.tool_credit == "tir" and log is shared.log:
            trajectory = with_tool_credit(trajectory)
        self._log(kwargs, session, asked, trajectory, run)
        return self._output(trajectory, run, run.weights(step))

    def _log(
        self, row: Mapping[str, Any], session: int, asked: Question, trajectory: Trajectory, run: "_EpisodeRun"
    ) -> None:
        folder, log = self.shared.source(row)
        step, group = int(row.get("global_steps", 0)), str(row.get("uid", asked.pair_id))
        order = shown_order(asked, opened_pairs(folder).by_id())
        cache = (run.cached_ids, run.read_ids) if run.cached_ids is not None else None
        log.write(
            step, session, asked, trajectory, group=group, seconds=run.seconds, weights=run.weights(step), cache=cache,
            order=order,
        )  # fmt: skip

    async def _judge(
        self, pair: Question, sampling_params: dict[str, Any], row: Mapping[str, Any]
    ) -> tuple["_EpisodeRun", Trajectory]:
        """Runs one episode of a row's group to its end."""
        shared = self.shared
        (folder, _), data = shared.source(row), opened_pairs(shared.source(row)[0])
        step, session = int(row.get("global_steps", 0)), int(row.get("session_id", 0))
        run = _EpisodeRun(await shared.new_episode(pair, data))
        find = shared.searcher(folder).of_case(pair.case_id)
        request_id = routing_key(self.config, str(row.get("uid", pair.pair_id)), session)

        async def sample(max_tokens: int) -> None:
            seed = content_hash(shared.recipe.seed, step, pair.pair_id, session, len(run.episode.token_ids))
            await self._sample(run, request_id, {**sampling_params, **self._limits(max_tokens, seed)})

        async def search(query: str) -> None:
            started = time.monotonic()
            await search_into(run.episode, find, query, self.search_seconds)
            run.seconds["search"] += time.monotonic() - started

        await run_to_end(run.episode, sample, search)
        return run, rewarded(run.episode.trajectory(), pair)

    def _limits(self, max_tokens: int, seed: str) -> dict[str, Any]:
        """Stop conditions. Our CPU server also takes a seed, which makes its runs reproducible."""
        stop = grammar(tools=bool(self.shared.recipe.episode.tools)).stop_strings
        limits = stop_params(self.rollout_config.name, stop, self.shared.stops, max_tokens)
        if self.rollout_config.name == "judge_r1_cpu":
            limits["seed"] = int(seed, 16) % 2**63
        return limits

    async def _sample(self, run: _EpisodeRun, request_id: str, sampling_params: dict[str, Any]) -> None:
        episode, started = run.episode, time.monotonic()
        try:
            output = await asyncio.wait_for(
                self.server_manager.generate(
                    request_id=request_id,
                    prompt_ids=[*episode.prompt_ids, *episode.token_ids],
                    sampling_params=sampling_params,
                ),
                self.generation_seconds,
            )
            # An empty turn would be sampled again without end. Without log-probabilities nothing can be trained.
            if not output.token_ids or output.log_probs is None:
                raise EmptyResponse("no ids" if output.log_probs is not None else "no log-probabilities")
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            log_lost("(generation_timeout): a turn had no answer in time")
            episode.abort("generation_timeout")
        except Exception:
            _log.exception("an episode is lost in a turn")
            episode.abort("generation_error")
        else:
            run.read_ids += len(episode.prompt_ids) + len(episode.token_ids)
            if (cached := output.extra_fields.get("num_cached_tokens")) is not None:
                run.cached_ids = (run.cached_ids or 0) + cached
            episode.feed(output.token_ids, output.log_probs)
            # A turn that a weight update interrupted has two versions.
            versions = (output.extra_fields.get(f"{name}global_steps") for name in ("min_", "max_", ""))
            run.versions += [version for version in versions if version is not None]
        run.seconds["generation"] += time.monotonic() - started

    def _output(self, trajectory: Trajectory, run: _EpisodeRun, weights: tuple[int, int]) -> AgentLoopOutput:
        """The trajectory as verl's output. An infrastructure failure has mask 0. verl needs at least one id."""
        ids, mask, logprobs = list(trajectory.token_ids), list(trajectory.loss_mask), list(trajectory.logprobs)
        if trajectory.infrastructure_failed:
            ids, logprobs = ids or [min(self.shared.stops)], logprobs or [0.0]
            mask = [0] * len(ids)
        # An error, where verl's own loops cut the end off: it holds the answer.
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
            metrics=AgentLoopMetrics(generate_sequences=run.seconds["generation"], tool_calls=run.seconds["search"]),
            extra_fields={
                FIELD: flat_breakdown(trajectory),
                "ended": trajectory.ended,
                "min_global_steps": weights[0],
                "max_global_steps": weights[1],
                # Empty, as verl's own loop without tools sets them.
                "turn_scores": [],
                "tool_rewards": [],
            },
        )
