"""Recorded episodes, run by our own driver: what was sampled in each request, and the reward. Environments of other
trainers replay the samples and must come to the same rewards."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from recorded_tokens import RecordedEpisode, Recordings, ReplayModel, group, prompts_of, wild

from judge_r1.core.records import ReasoningPair, Turn
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.parsing import Rejected, parse_strict
from judge_r1.episode.reward import round_reward, score, with_reward
from judge_r1.episode.rollout import new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.hub import load_tokenizer

TINY = "bundled:tiny"


@dataclass
class Rollout:
    """The ids of each sample, and why and with which reward the episode ended."""

    pair_id: str
    samples: list[list[int]] = field(default_factory=list)
    ended: str = ""
    reward: dict[str, float] = field(default_factory=dict)
    searched: list[str] = field(default_factory=list)
    turns: Sequence[Turn] = ()


class _Recorder:
    """Passes the requests on and keeps what was sampled."""

    def __init__(self, model: ReplayModel, rollout: Rollout) -> None:
        self._model, self._rollout = model, rollout

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        found = await self._model.generate(requests)
        self._rollout.samples += [list(one.token_ids) for one in found if one.token_ids]
        return found

    def close(self) -> None: ...


def rollouts(data: PairSet, config: EpisodeConfig, count: int = 40) -> list[Rollout]:
    """Groups of all outcomes and `count` episodes of random ids, without those that an outage ended."""
    tokenizer = SafeTokenizer(load_tokenizer(TINY))
    eos, rng = tokenizer.hf.eos_token_id, Random(0)
    kinds = ("mixed", "identical", "failed", "one_left")
    episodes = [one for pair, kind in zip(data.pairs, kinds, strict=False) for one in group(pair, tokenizer, eos, kind)]
    for _ in range(count):
        one = wild(rng.choice(data.pairs), tokenizer, eos, rng)
        end = rng.choice([[eos], tokenizer.encode_trusted("ben, 34. " * config.budget.response_tokens)])
        episodes.append(RecordedEpisode(one.pair_id, (*one.ids, *end)))
    prompts, searcher = prompts_of(data, config, tokenizer), CaseSearcher(data.texts, config)
    done = [_run(episode, data, config, tokenizer, prompts, searcher) for episode in episodes]
    return [one for one in done if not one.ended.startswith("infrastructure")]


def _run(
    recorded: RecordedEpisode, data: PairSet, config: EpisodeConfig, tokenizer: SafeTokenizer, prompts: Any,
    searcher: CaseSearcher,
) -> Rollout:  # fmt: skip
    pair, rollout = data.by_id()[recorded.pair_id], Rollout(recorded.pair_id)
    eos = (tokenizer.hf.eos_token_id,)
    model = _Recorder(ReplayModel(Recordings([recorded], prompts), tokenizer.decode, eos), rollout)
    episode = new_episode(pair, data, config, tokenizer, eos)
    asyncio.run(EpisodeDriver(model).run_episode(episode, searcher.of_case(pair.case_id), Usage()))
    trajectory = with_reward(episode.trajectory(), pair)
    rollout.ended = trajectory.ended
    assert trajectory.reward is not None
    rollout.reward = trajectory.reward | {"r": round_reward(trajectory.reward["r"])}
    rollout.turns = trajectory.turns
    rollout.searched = [turn.observation or "" for turn in trajectory.turns if turn.observation]
    return rollout


def write_pairs(folder: Path, data: PairSet) -> str:
    """The folder, with the data as `judge-r1 build` writes it."""
    write_jsonl(folder / "cases.jsonl", data.cases.values())
    write_jsonl(folder / "pairs.jsonl", data.pairs)
    return str(folder)


def reward_of(text: str, pair: ReasoningPair) -> float:
    """The reward of a submitted text by the strict parser."""
    parsed = parse_strict(text)
    return round_reward(score(None if isinstance(parsed, Rejected) else parsed, pair)["r"])


def assert_of_its_case(data: PairSet, pair: ReasoningPair, passages: Sequence[Evidence]) -> None:
    assert passages
    for passage in passages:
        assert passage.case_id == pair.case_id
        assert data.cases[pair.case_id].context[passage.start : passage.end] == passage.text


def gold_answer(data: PairSet, pair_id: str, **changes: Any) -> dict[str, Any]:
    pair = data.by_id()[pair_id]
    answer = {"comparison": pair.gold.comparison, "violated_principles": list(pair.violated), "explanation": "x"}
    return answer | changes
