"""Episodes of the shipped recipes are those recorded before tools were added: prompts, ids, masks, rewards, turns, the
texts that stop a sample, and the settings by which results are resumed.

Rewrite the record with REWRITE_GOLDEN=1, and say in the changelog what changed.
"""

import asyncio
import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest
from factories import make_case, make_pair, mini_pairs
from paths import RECIPES
from real_tokenizers import tiny
from recorded_tokens import RecordedEpisode, Recordings, ReplayModel, group, prompts_of, wild

from judge_r1.episode.chat_driver import EOS, ChatDriver, TextTokenizer, chat_budget
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.driver import EpisodeDriver
from judge_r1.episode.machine import Episode
from judge_r1.episode.rollout import RolloutRunner, answer_parser, task_prompt
from judge_r1.episode.task import pairwise_task
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.episode_factory import judge_settings
from judge_r1.models.base import GenerateRequest, Generation, Sampling, Usage
from judge_r1.training.recipe import load_recipe

RECORD = Path(__file__).with_name("recorded_episodes.json")
PATHS = sorted(path for folder in ("paper", "mini", "haystack") for path in RECIPES.glob(f"{folder}/*.yaml"))
TAGGED = (
    "<tool>calc\n1 + 1</tool> <tools> </tool> <search>x</search> a‹tool› <information>[1] ana paid 35</information>"
)
"""A case that writes the tags of actions: a tag of tools is plain text without tools."""


@cache
def recorded_data() -> PairSet:
    mini = mini_pairs(4)
    case = make_case(f"{TAGGED} ana paid 34. ben left rome.")
    pair = make_pair(case, f"1. ana paid 35, so {TAGGED}", violated=(2, 4))
    return PairSet.of([*mini.cases.values(), case], [*mini.pairs, pair])


def digest(value: Any) -> str:
    return sha256(json.dumps(value, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


def configured(path: Path) -> EpisodeConfig:
    """The episode of a recipe, with a retriever that needs no weights and prompts of any length."""
    return load_recipe(path).episode.model_copy(update={"retriever": "bm25", "prompt_tokens": 100_000})


def samples(data: PairSet, tokenizer: SafeTokenizer) -> list[RecordedEpisode]:
    """Per pair: groups with searches and failures, random pieces of the grammar, and a tool that no episode has."""
    eos, rng = tokenizer.hf.eos_token_id, Random(0)
    tool = "<think>add</think><tool>calc\n1 + 1</tool>"
    episodes = []
    for pair in data.pairs:
        for kind in ("mixed", "failed"):
            episodes += group(pair, tokenizer, eos, kind)
        episodes += [wild(pair, tokenizer, eos, rng) for _ in range(8)]
        episodes += [
            RecordedEpisode(pair.pair_id, (*tokenizer.encode_policy_text(text), eos))
            for text in (tool, f"{tool}<search>ana paid</search>{tool}", f"<search>{tool}</search>")
        ]
    return episodes


class StopsModel(ReplayModel):
    """Notes what stops each sample."""

    stops: frozenset[tuple[str, ...]] = frozenset()

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        self.stops = self.stops | {tuple(request.stop) for request in requests}
        return await super().generate(requests)


class ChatReplies:
    """A chat model that sends the same replies in each episode, and notes what it reads."""

    TEXTS = ("<think>look</think><search>ana paid", "<tool>calc\n1 + 1</tool>", '<answer>{"comparison": "A>B"')

    def __init__(self) -> None:
        self.read: list[Any] = []

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        [request] = requests
        self.read.append([list(request.messages or ()), list(request.stop)])
        turn = sum(message["role"] == "assistant" for message in request.messages or ())
        return [Generation(text=self.TEXTS[min(turn, 2)], usage=Usage(calls=1))]

    def close(self) -> None: ...


@cache
def recorded(settings: str) -> dict[str, str]:
    """The digests of a configuration, which recipes may share."""
    return dict(record(EpisodeConfig.model_validate_json(settings)))


def record(config: EpisodeConfig) -> Iterator[tuple[str, str]]:
    data, tokenizer = recorded_data(), SafeTokenizer(tiny())
    prompts = [task_prompt(pairwise_task(pair, data.case_of(pair)), config) for pair in data.pairs]
    yield "prompts", digest([prompt.chat() for prompt in prompts])
    yield "prompt ids", digest([tokenizer.prompt_ids(prompt, thinking=config.thinking) for prompt in prompts])
    episodes = samples(data, tokenizer)
    pairs = data.by_id()
    model = StopsModel(
        Recordings(episodes, prompts_of(data, config, tokenizer)), tokenizer.decode, {tokenizer.hf.eos_token_id}
    )
    runner = RolloutRunner(data, config, tokenizer, EpisodeDriver(model), {tokenizer.hf.eos_token_id})
    done = runner.run([pairs[episode.pair_id] for episode in episodes], Sampling(1.0, 0))
    yield "ids", digest([trajectory.token_ids for trajectory in done])
    yield "masks", digest([trajectory.loss_mask for trajectory in done])
    yield "rewards", digest([[trajectory.ended, trajectory.reward] for trajectory in done])
    yield "turns", digest([[turn.model_dump(mode="json") for turn in trajectory.turns] for trajectory in done])
    yield "stops", digest(sorted(model.stops))
    yield "settings", digest(judge_settings(JudgeBuild("model"), config))
    chat = ChatReplies()
    case = data.case_of(data.pairs[-1])
    episode = Episode(
        (), chat_budget(config.effective_budget), TextTokenizer(), eos_ids=(EOS,), parse=answer_parser(config.prompt)
    )
    searcher = runner._searcher.of_case(case.case_id)
    told = asyncio.run(
        ChatDriver(chat).run_episode(prompts[-1].chat(), episode, searcher, max_tokens=100, usage=Usage())
    )
    yield "chat", digest([chat.read, told[0].model_dump(mode="json")])


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_episodes_of_shipped_recipes_are_those_recorded(path: Path) -> None:
    name = f"{path.parent.name}/{path.stem}"
    found = recorded(configured(path).model_dump_json())
    golden = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    if os.environ.get("REWRITE_GOLDEN"):
        golden |= {name: found}
        RECORD.write_text(json.dumps(golden, indent=1) + "\n")
    assert found == golden.get(name)
