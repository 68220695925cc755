"""Fixed ids for episodes to sample, and what replays them: a language model, and a rollout server for verl."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair
from judge_r1.episode.rollout import new_episode
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.base import GenerateRequest, Generation

LOST = "generation_error"
"""The failure of a request whose tape has run out."""


@dataclass(frozen=True)
class Tape:
    pair_id: str
    ids: tuple[int, ...]


def write_tapes(path: Path, tapes: Sequence[Tape]) -> None:
    path.write_text(json.dumps([[tape.pair_id, tape.ids] for tape in tapes]))


def read_tapes(path: Path) -> list[Tape]:
    return [Tape(pair_id, tuple(ids)) for pair_id, ids in json.loads(path.read_text())]


class Tapes:
    """Hands the tapes of a pair out in order; an episode shows which pair it is by its prompt."""

    def __init__(self, tapes: Sequence[Tape], prompts: dict[tuple[int, ...], str]) -> None:
        self.prompts = prompts
        self._left: dict[str, list[list[int]]] = {}
        for tape in tapes:
            self._left.setdefault(tape.pair_id, []).append(list(tape.ids))

    def next(self, prompt_ids: Sequence[int]) -> list[int]:
        return self._left[self.prompts[tuple(prompt_ids)]].pop(0)


class TapeModel:
    """A language model that replays tapes: each request gets the ids up to its stop. A tape is found by the prompt and
    the seed of its episode, and serves all turns of that episode."""

    def __init__(self, tapes: Tapes, decode: Callable[[Sequence[int]], str], eos: Collection[int]) -> None:
        from judge_r1.models.sampling import StopChecker

        self.tapes, self.stopping = tapes, StopChecker(decode, frozenset(eos))
        self._under_way: dict[Any, list[int]] = {}

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        found = []
        for request in requests:
            ids = self.read(request, (request.seed, tuple(request.prompt_ids or ())[: -request.seed_offset or None]))
            failure = None if ids else LOST
            found.append(Generation(token_ids=ids, logprobs=[-0.5] * len(ids), failure=failure))
        return found

    def read(self, request: GenerateRequest, episode: Any) -> list[int]:
        """The next ids of an episode's tape."""
        assert request.prompt_ids is not None
        if episode not in self._under_way:
            self._under_way[episode] = self.tapes.next(request.prompt_ids)
        left, ids = self._under_way[episode], []
        while left and not (ids and self.stopping.done(request, ids)):
            ids.append(left.pop(0))
        return ids

    def close(self) -> None: ...


class TapeServer:
    """verl's rollout server, as far as the agent loop sees it."""

    def __init__(self, tapes: Tapes, tokenizer: SafeTokenizer, eos: Collection[int]) -> None:
        self.model = TapeModel(tapes, tokenizer.decode, eos)

    async def generate(self, request_id: str, prompt_ids: Sequence[int], sampling_params: dict[str, Any]) -> Any:
        from verl.workers.rollout.replica import TokenOutput

        from judge_r1.training.verl.sampling_params import generate_request

        ids = self.model.read(generate_request(prompt_ids, sampling_params), request_id)
        if not ids:
            raise ConnectionError("the tape is at its end")
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), extra_fields={"global_steps": 0})


def prompts_of(data: PairSet, config: Any, tokenizer: SafeTokenizer) -> dict[tuple[int, ...], str]:
    return {new_episode(pair, data, config, tokenizer, ()).prompt_ids: pair.pair_id for pair in data.pairs}


def group(pair: ReasoningPair, tokenizer: SafeTokenizer, eos: int, kind: str) -> list[Tape]:
    """Four episodes of a pair: of mixed outcomes, all alike, or some or all but one lost."""
    right, wrong = ("A>B", "A<B") if pair.preferred == "A" else ("A<B", "A>B")

    def says(comparison: str, principles: Sequence[int]) -> str:
        return f'<answer>{{"comparison": "{comparison}", "violated_principles": {list(principles)}}}</answer>'

    gold, search = says(right, pair.violated), "<search>ana paid</search>"
    other = next(n for n in range(1, 7) if n not in pair.violated)
    half = says(right, sorted([*pair.violated, other]))
    lost = search + "<think>then"
    texts = {
        "mixed": [search + gold, half, search + "<think>no </search> here</think>" + says(wrong, [other]), "no\0"],
        "alike": [half, search + half, half, "<think>x</think>" + half],
        "lost": [gold, lost, says(wrong, pair.violated), search + half],
        "alone": [lost, search + half, "", lost],
    }[kind]
    return [Tape(pair.pair_id, tuple(_ids(text, tokenizer, eos))) for text in texts]


def bare(pair: ReasoningPair, tokenizer: SafeTokenizer, eos: int, rng: Random, longest: int) -> Tape:
    """Answers without tags, good and bad, with tags and stray ids around them, in one turn; cut where no end id
    comes."""
    parts = [f'{{"comparison": "{said}", "violated_principles": [2, 3]}}' for said in ("A>B", "b < a")]
    parts += ["<think>", "</think>", "</search>", "<answer>{}</answer>", "Surely: ", "é→", "{", "```json\n"]
    ids: list[int] = []
    for _ in range(rng.randint(1, 5)):
        ids += rng.choice([tokenizer.encode_trusted(rng.choice(parts)), [rng.randrange(len(tokenizer.hf))]])
    return Tape(pair.pair_id, (*ids, *([eos] if rng.random() < 0.9 else ids * longest)))


def _ids(text: str, tokenizer: SafeTokenizer, eos: int) -> Iterator[int]:
    for piece in text.split("\0"):
        yield from tokenizer.encode_trusted(piece)
        if piece != text.split("\0")[-1]:
            yield eos


def wild(pair: ReasoningPair, tokenizer: SafeTokenizer, eos: int, rng: Random) -> Tape:
    """Pieces of the grammar and stray ids in any order: actions inside open blocks, cut tags, ids behind the stop."""
    parts = ["<think>", "</think>", "<search>ana paid</search>", "<search> </search>", "</search>", "ben, 34. ", "é→"]
    parts += ["<answer>{}</answer>", '<answer>{"comparison": "A>B", "violated_principles": [2]}</answer> and on', "</"]
    ids: list[int] = []
    for _ in range(rng.randint(1, 12)):
        stray = [rng.randrange(len(tokenizer.hf)) for _ in range(rng.randint(1, 6))]
        ids += rng.choice([tokenizer.encode_trusted(rng.choice(parts)), stray, [eos] if rng.random() < 0.2 else []])
    return Tape(pair.pair_id, tuple(ids))
