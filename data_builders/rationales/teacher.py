"""Rationale enhancement (LRBench, section 3.3): a teacher writes full rationales for gold judgments, for the warm-up.

Turn by turn, in the real episode: what the teacher looks up, the real retriever finds, in that case, and the teacher
goes on from there. Without search the rationale is one turn. A turn that `turns` rejects is asked for again with the
reason; a rationale counts only if the episode machine accepts it and its answer scores r = 1.0.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from data_builders.ordered_concurrency import in_order
from data_builders.prompts.rationale import may_answer, rationale_prompts_hash, turn_prompt
from data_builders.rationales.turn_parser import ParsedTurn, RejectedTurn, read_turn, thoughts_of
from data_builders.teachers import BatchPending, Teacher, TeacherRefused, TeacherRequest
from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair, Trajectory, content_hash
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.machine import Episode, Finished, Sample, Search
from judge_r1.episode.prompts import judge_prompt
from judge_r1.episode.reward import with_reward
from judge_r1.episode.rollout import PromptTooLong, case_search, new_episode, new_retriever
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.training.recipe import Recipe
from retrieval.retriever import Retriever

TRIES = 3
"""How often a turn is asked for: once, and twice with the reason why it was rejected."""
_WORDS_PER_TOKEN, _THOUGHTS = 0.6, 2_000
_AHEAD = 4
"""Pairs under way for each call at a time."""


@dataclass
class RationaleStats:
    """What became of the pairs and of the turns asked for: sums only, whatever the order in which pairs finish."""

    accepted: int = 0
    pending: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    turns_rejected: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    searches: Counter[int] = field(default_factory=Counter)
    by_domain: Counter[str] = field(default_factory=Counter)
    by_principle: Counter[int] = field(default_factory=Counter)
    answers: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def take(self, pair: ReasoningPair, trajectory: Trajectory) -> None:
        self.accepted += 1
        self.searches[trajectory.searches] += 1
        self.by_domain[pair.domain] += 1
        self.by_principle.update(pair.violated)

    def as_dict(self) -> dict[str, Any]:
        counters = ("rejected", "turns_rejected", "notes", "searches", "by_domain", "by_principle")
        numbers = ("accepted", "answers", "input_tokens", "output_tokens")
        return {
            "prompts": rationale_prompts_hash(),
            **{name: getattr(self, name) for name in numbers},
            **{name: {str(k): n for k, n in sorted(getattr(self, name).items())} for name in counters},
        }


@dataclass(frozen=True)
class Setting:
    """What every rationale of a run is written under."""

    data: PairSet
    config: EpisodeConfig
    codec: SafeTokenizer
    retriever: Retriever
    teacher: Teacher
    tally: RationaleStats


class _GivenUp(Exception):
    """A pair without a rationale; the message is what it is counted by."""


async def enhance(pair: ReasoningPair, setting: Setting) -> Trajectory | None:
    """The rationale of a pair, or None where there is none, which is counted. Errors: those of `teacher.ask`, but for
    an ask that it refuses."""
    try:
        trajectory = await _play(pair, setting)
    except PromptTooLong:
        setting.tally.rejected["prompt_too_long"] += 1
    except TeacherRefused:
        setting.tally.rejected["the teacher refuses the ask"] += 1
    except _GivenUp as reason:
        setting.tally.rejected[str(reason)] += 1
    else:
        if trajectory.reward is not None and trajectory.reward["r"] == 1.0:
            return trajectory
        setting.tally.rejected[trajectory.ended] += 1
    return None


async def enhanced(
    data: PairSet,
    recipe: Recipe,
    codec: SafeTokenizer,
    teacher: Teacher,
    tally: RationaleStats,
    *,
    count: int,
    concurrency: int = 8,
) -> AsyncGenerator[tuple[ReasoningPair, Trajectory], None]:
    """`count` pairs with their rationales, or as many as there are, in an order that the recipe's seed decides.

    No more pairs are begun than rationales are wanted still. Errors: those of the teacher; Pending where it has put
    asks off, after all that can be asked has been.
    """
    setting = Setting(data, recipe.episode, codec, new_retriever(data.texts, recipe.episode), teacher, tally)
    pairs = iter(sorted(data.pairs, key=lambda pair: content_hash("order", pair.pair_id, recipe.seed)))

    async def work(pair: ReasoningPair) -> tuple[ReasoningPair, Trajectory | None]:
        try:
            return pair, await enhance(pair, setting)
        except BatchPending:
            tally.pending += 1
            return pair, None

    while tally.accepted + tally.pending < count:
        some = [pair for pair, _ in zip(pairs, range(count - tally.accepted - tally.pending), strict=False)]
        if not some:
            break
        async with aclosing(in_order(iter(some), work, _AHEAD * concurrency)) as found:
            async for pair, trajectory in found:
                if trajectory is not None:
                    tally.take(pair, trajectory)
                    yield pair, trajectory
    if tally.pending:
        raise BatchPending(f"{tally.pending} rationales wait for answers")


async def _play(pair: ReasoningPair, setting: Setting) -> Trajectory:
    config, codec = setting.config, setting.codec
    episode = new_episode(pair, setting.data, config, codec, ())
    while isinstance(episode.state, Sample):
        written = await _turn(pair, episode, episode.state.max_tokens, setting)
        ids = _ids(codec, episode, written.text)
        episode.feed(ids, [0.0] * len(ids))
        if isinstance(episode.state, Search):
            query, top_k = episode.state.query, config.budget.top_k
            episode.observe(await asyncio.to_thread(case_search, setting.retriever, pair.case_id, query, top_k))
        elif not isinstance(episode.state, Finished):
            raise _GivenUp("the machine sees no action")
    return with_reward(episode.trajectory(), pair)


async def _turn(pair: ReasoningPair, episode: Episode, room: int, setting: Setting) -> ParsedTurn:
    """The next turn, good and short enough. Errors: _GivenUp after `TRIES` bad ones."""
    case, config, tally = setting.data.case_of(pair), setting.config, setting.tally
    bad, shown, words = RejectedTurn("", ""), _shown(pair, episode, setting), int(room * _WORDS_PER_TOKEN)
    for attempt in range(TRIES):
        system, user = turn_prompt(pair, case, config, episode, words=words, rejected=bad.detail)
        ask = TeacherRequest(system=system, user=user, max_tokens=2 * room + _THOUGHTS, sample=attempt)
        answer = await setting.teacher.ask(ask)
        tally.answers += 1
        tally.input_tokens += answer.input_tokens
        tally.output_tokens += answer.output_tokens
        found: ParsedTurn | RejectedTurn
        if not answer.finished:
            found = RejectedTurn("cut", f"it was cut off: write at most {words} words.")
        else:
            found = read_turn(
                answer.text,
                pair,
                may_search=config.spending.max_searches > _searches(episode),
                may_answer=may_answer(config, episode),
                thoughts=[thought for turn in episode.turns for thought in thoughts_of(turn.text)],
                shown=shown,
            )
        if isinstance(found, ParsedTurn) and len(_ids(setting.codec, episode, found.text)) > room:
            found = RejectedTurn("too long", f"it is too long: write at most {words} words.")
        if isinstance(found, ParsedTurn):
            tally.notes["turns that ran on behind their action"] += found.ran_on
            return found
        tally.turns_rejected[found.reason] += 1
        bad = found
    raise _GivenUp(bad.reason)


def _searches(episode: Episode) -> int:
    return sum(turn.query is not None for turn in episode.turns)


def _shown(pair: ReasoningPair, episode: Episode, setting: Setting) -> Sequence[str]:
    """All that the judge has been shown, and what it asked for itself."""
    config, case = setting.config, setting.data.case_of(pair)
    prompt = judge_prompt(
        pair, case, context=config.context, searches=config.spending.max_searches, style=config.prompt
    )
    passages = [passage.text for turn in episode.turns for passage in turn.passages]
    return [*(message["content"] for message in prompt.chat()), *passages]


def _ids(codec: SafeTokenizer, episode: Episode, text: str) -> list[int]:
    """A turn as it is fed: without the tag of a thought that the chat template has opened."""
    return codec.encode_policy_text(text.removeprefix("<think>") if episode.thinking else text)
