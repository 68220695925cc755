"""Recorded token ids of episodes, and their replay as a language model and as a rollout server for verl."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from judge_r1.core.records import ReasoningPair
from judge_r1.episode.questions import ListQuestion, Question, ScoreQuestion, question, question_keys, shown_order
from judge_r1.episode.rollout import new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import PairSet
from judge_r1.models.base import GenerateRequest, Generation
from judge_r1.training.stage_config import GrpoConfig

FAILURE = "generation_error"
"""The failure of a request after the end of its recording."""


@dataclass(frozen=True)
class RecordedEpisode:
    """The sampled ids of one episode. `pair_id` is the key of its question, with `~` where the pair is swapped, or the
    order of a list (`label`)."""

    pair_id: str
    ids: tuple[int, ...]

    @property
    def key(self) -> str:
        return self.pair_id.partition("~")[0]


def label(asked: Question, data: PairSet) -> str:
    """The name of a question in recordings."""
    order = shown_order(asked, data.by_id())
    return f"{asked.pair_id}~{''.join(map(str, order))}" if order else asked.pair_id


def questions_of(data: PairSet, grpo: GrpoConfig, seed: int) -> list[Question]:
    """Every question of a group for each key, in order."""
    return [
        question(key, data.by_id(), session, grpo.group_size, orders=grpo.orders, seed=seed)
        for key in question_keys(data, grpo.task)
        for session in range(grpo.group_size)
    ]


def write_recordings(path: Path, episodes: Sequence[RecordedEpisode]) -> None:
    path.write_text(json.dumps([[episode.pair_id, episode.ids] for episode in episodes]))


def read_recordings(path: Path) -> list[RecordedEpisode]:
    return [RecordedEpisode(pair_id, tuple(ids)) for pair_id, ids in json.loads(path.read_text())]


class Recordings:
    """Returns the recorded episodes of a pair in order. The prompt identifies the pair."""

    def __init__(self, episodes: Sequence[RecordedEpisode], prompts: dict[tuple[int, ...], str]) -> None:
        self.prompts = prompts
        self._remaining: dict[str, list[list[int]]] = {}
        for episode in episodes:
            self._remaining.setdefault(episode.pair_id, []).append(list(episode.ids))

    def next(self, prompt_ids: Sequence[int]) -> list[int]:
        return self._remaining[self.prompts[tuple(prompt_ids)]].pop(0)


class ReplayModel:
    """A language model that replays recorded ids up to the stop of each request. The prompt and the seed of an episode
    select the recording, which serves all its turns."""

    def __init__(self, recordings: Recordings, decode: Callable[[Sequence[int]], str], eos: Collection[int]) -> None:
        from judge_r1.models.sampling import StopChecker

        self.recordings, self.stopping = recordings, StopChecker(decode, frozenset(eos))
        self._active: dict[Any, list[int]] = {}

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        generations = []
        for request in requests:
            ids = self.read(request, (request.seed, tuple(request.prompt_ids or ())[: -request.seed_offset or None]))
            failure = None if ids else FAILURE
            generations.append(Generation(token_ids=ids, logprobs=[-0.5] * len(ids), failure=failure))
        return generations

    def read(self, request: GenerateRequest, episode: Any) -> list[int]:
        """The next recorded ids of `episode`."""
        assert request.prompt_ids is not None
        if episode not in self._active:
            self._active[episode] = self.recordings.next(request.prompt_ids)
        remaining, ids = self._active[episode], []
        while remaining and not (ids and self.stopping.done(request, ids)):
            ids.append(remaining.pop(0))
        return ids

    def close(self) -> None: ...


class ReplayServer:
    """The part of verl's rollout server that the agent loop uses."""

    def __init__(self, recordings: Recordings, tokenizer: SafeTokenizer, eos: Collection[int]) -> None:
        self.model = ReplayModel(recordings, tokenizer.decode, eos)

    async def generate(self, request_id: str, prompt_ids: Sequence[int], sampling_params: dict[str, Any]) -> Any:
        from verl.workers.rollout.replica import TokenOutput

        from judge_r1.training.verl.sampling_params import generate_request

        ids = self.model.read(generate_request(prompt_ids, sampling_params), request_id)
        if not ids:
            raise ConnectionError("the recording has ended")
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), extra_fields={"global_steps": 0})


def prompts_of(
    data: PairSet, config: Any, tokenizer: SafeTokenizer, questions: Sequence[Question] | None = None
) -> dict[tuple[int, ...], str]:
    asked = data.pairs if questions is None else questions
    return {new_episode(one, data, config, tokenizer, ()).prompt_ids: label(one, data) for one in asked}


def answers(asked: Question, data: PairSet, tokenizer: SafeTokenizer, eos: int, number: int) -> RecordedEpisode:
    """Episode `number` of a group: right, wrong, invalid and lost ones in turn."""
    search = "<search>ana paid</search>" if number % 2 else ""
    if isinstance(asked, ScoreQuestion):
        scores = (8, 6, 7, 3) if asked.side == "reference" else (5, 7, 6, 3)
        named = [asked.pair.violated[0]] if number % 3 else []
        text = f'{{"score": {scores[number % 4]}, "violated_principles": {named}}}'
    elif isinstance(asked, ListQuestion):
        text = f'{{"best": {1 + (asked.order.index(0) + number % 3) % len(asked.order)}}}'
    else:
        comparison = ("A>B", "A<B", "A>B", "A?B")[number % 4]
        text = f'{{"comparison": "{comparison}", "violated_principles": [2]}}'
    lost = number % 4 == 3 and asked.pair_id[0] in "02468ace"
    text = f"{search}<think>lost" if lost else f"{search}<answer>{text}</answer>"
    return RecordedEpisode(label(asked, data), tuple(_ids(text, tokenizer, eos)))


def group(pair: ReasoningPair, tokenizer: SafeTokenizer, eos: int, kind: str) -> list[RecordedEpisode]:
    """Four episodes of a pair: of mixed outcomes, of identical outcomes, with failures, or with one left."""
    right, wrong = ("A>B", "A<B") if pair.preferred == "A" else ("A<B", "A>B")

    def answer(comparison: str, principles: Sequence[int]) -> str:
        return f'<answer>{{"comparison": "{comparison}", "violated_principles": {list(principles)}}}</answer>'

    gold, search = answer(right, pair.violated), "<search>ana paid</search>"
    other = next(n for n in range(1, 7) if n not in pair.violated)
    half = answer(right, sorted([*pair.violated, other]))
    failed = search + "<think>then"
    texts = {
        "mixed": [search + gold, half, search + "<think>no </search> here</think>" + answer(wrong, [other]), "no\0"],
        "identical": [half, search + half, half, "<think>x</think>" + half],
        "failed": [gold, failed, answer(wrong, pair.violated), search + half],
        "one_left": [failed, search + half, "", failed],
    }[kind]
    return [RecordedEpisode(pair.pair_id, tuple(_ids(text, tokenizer, eos))) for text in texts]


def bare(pair: ReasoningPair, tokenizer: SafeTokenizer, eos: int, rng: Random, longest: int) -> RecordedEpisode:
    """Single-turn answers without tags, valid and invalid, mixed with tags and random ids. Without an end id they run
    into the token limit."""
    parts = [f'{{"comparison": "{comparison}", "violated_principles": [2, 3]}}' for comparison in ("A>B", "b < a")]
    parts += ["<think>", "</think>", "</search>", "<answer>{}</answer>", "Surely: ", "é→", "{", "```json\n"]
    ids: list[int] = []
    for _ in range(rng.randint(1, 5)):
        ids += rng.choice([tokenizer.encode_trusted(rng.choice(parts)), [rng.randrange(len(tokenizer.hf))]])
    return RecordedEpisode(pair.pair_id, (*ids, *([eos] if rng.random() < 0.9 else ids * longest)))


def _ids(text: str, tokenizer: SafeTokenizer, eos: int) -> Iterator[int]:
    for piece in text.split("\0"):
        yield from tokenizer.encode_trusted(piece)
        if piece != text.split("\0")[-1]:
            yield eos


def wild(pair: ReasoningPair, tokenizer: SafeTokenizer, eos: int, rng: Random) -> RecordedEpisode:
    """Pieces of the grammar and random ids in any order: actions in open blocks, partial tags, ids after the stop."""
    parts = ["<think>", "</think>", "<search>ana paid</search>", "<search> </search>", "</search>", "ben, 34. ", "é→"]
    parts += ["<answer>{}</answer>", '<answer>{"comparison": "A>B", "violated_principles": [2]}</answer> and on', "</"]
    ids: list[int] = []
    for _ in range(rng.randint(1, 12)):
        stray = [rng.randrange(len(tokenizer.hf)) for _ in range(rng.randint(1, 6))]
        ids += rng.choice([tokenizer.encode_trusted(rng.choice(parts)), stray, [eos] if rng.random() < 0.2 else []])
    return RecordedEpisode(pair.pair_id, tuple(ids))
