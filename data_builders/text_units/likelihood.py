"""What a causal language model says of the two reasonings of a pair, without the case.

A flaw that makes a text unlikely can be found without knowing what is true. The model reads each reasoning alone. The
reasonings of a case share most of their text, so the reference is read once and each flawed one from its first change.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from judge_r1.core.records import ReasoningPair

TAIL = 12
"""Tokens after a change that show how well it fits."""
CHUNK = 1024
"""Tokens of a forward pass over several texts."""
ZERO_SHOT: Mapping[str, tuple[str, str]] = {
    "log-likelihood": ("likelier text", "less likely text"),
    "mean log-likelihood": ("likelier token", "less likely token"),
    "mean log-likelihood of the change": ("likelier change", "less likely change"),
}
"""Feature -> the rule that prefers the larger value, and the rule that prefers the smaller one."""


@dataclass(frozen=True)
class TokenScores:
    """The ids of a text and their log-probabilities in nats, each given the ids before it."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]


class LikelihoodReader:
    """Reads texts with a causal language model: a folder, a hub name or `bundled:NAME`.

    Raises:
        ModelUnavailable: The model or its tokenizer cannot be loaded.
    """

    def __init__(self, name: str) -> None:
        from judge_r1.models.hub import load_model, load_tokenizer

        self._model, self._tokenizer = load_model(name).eval(), load_tokenizer(name)
        start = self._tokenizer.bos_token_id
        self._start = self._tokenizer.eos_token_id if start is None else start
        self._whole = lru_cache(maxsize=1)(self._read_whole)  # a build reads several sets of flaws of one reference

    def read(self, texts: Sequence[str], tail: int | None = None) -> list[TokenScores]:
        """The scores of each text. The first text is read whole, the others from where they leave it.

        With `tail`, a text is read for so many tokens after it has joined the first one again. The scores of the first
        text stand for the rest.
        """
        encoded = [tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts]
        first, *others = encoded
        branches = [_branch(first, ids, tail) for ids in others]
        cache, kept = self._whole(first)
        scores = [TokenScores(first, kept)]
        for chunk in _chunks(branches):
            for branch, rest in zip(chunk, self._read_branches(cache, first, chunk), strict=True):
                unread = kept[len(kept) - branch.joined :] if branch.joined else ()
                scores.append(TokenScores(branch.ids, (*kept[: branch.left], *rest, *unread)))
        return scores

    def _read_whole(self, ids: tuple[int, ...]) -> tuple[Any, tuple[float, ...]]:
        """The cache of the start token and all ids but the last, and the log-probabilities of the ids."""
        import torch
        from transformers import DynamicCache

        from judge_r1.models.kv_cache import CACHE_ARGUMENT

        cache = DynamicCache()
        if not ids:
            return cache, ()
        given = torch.tensor([[self._start, *ids[:-1]]], device=self._model.device)
        with torch.no_grad():
            logits = self._model(given, use_cache=True, **{CACHE_ARGUMENT: cache}).logits[0]
        return cache, _chosen(logits, ids)

    def _read_branches(
        self, cache: Any, first: Sequence[int], branches: "Sequence[_Branch]"
    ) -> list[tuple[float, ...]]:
        """The log-probabilities of the ids of each branch, in one forward pass.

        The branches stand side by side. Each attends to the cached ids before it and to itself. The last id that it
        shares with the first text is read again.
        """
        import torch

        from judge_r1.models.kv_cache import CACHE_ARGUMENT

        cached = cache.get_seq_length()
        device, dtype = self._model.device, self._model.dtype
        length = sum(len(branch.read) for branch in branches)
        given = torch.zeros(1, length, dtype=torch.long)
        positions = torch.zeros(1, length, dtype=torch.long)
        blocked = torch.ones(length, cached + length, dtype=torch.bool)
        begin = 0
        for branch in branches:
            count, end = len(branch.read), begin + len(branch.read)
            before = first[branch.left - 1] if branch.left else self._start
            given[0, begin:end] = torch.tensor([before, *branch.read][:count])
            positions[0, begin:end] = torch.arange(branch.left, branch.left + count)
            blocked[begin:end, : branch.left] = False
            blocked[begin:end, cached + begin : cached + end] = torch.ones(count, count, dtype=torch.bool).triu(1)
            begin = end
        mask = torch.zeros(1, 1, length, cached + length, dtype=dtype).masked_fill(blocked, torch.finfo(dtype).min)
        with torch.no_grad():
            logits = self._model(
                given.to(device),
                attention_mask=mask.to(device),
                position_ids=positions.to(device),
                use_cache=True,
                **{CACHE_ARGUMENT: cache},
            ).logits[0]
        cache.crop(cached)
        parts = logits.split([len(branch.read) for branch in branches])
        return [_chosen(part, branch.read) for part, branch in zip(parts, branches, strict=True)]


@dataclass(frozen=True)
class _Branch:
    """The ids of a text that leaves the first one after `left` ids. Its last `joined` ids are not read again."""

    ids: tuple[int, ...]
    left: int
    joined: int

    @property
    def read(self) -> tuple[int, ...]:
        return self.ids[self.left : len(self.ids) - self.joined]


def _branch(first: Sequence[int], ids: tuple[int, ...], tail: int | None) -> _Branch:
    from judge_r1.models.kv_cache import shared_length

    left = shared_length(first, ids)
    joined = 0 if tail is None else max(0, shared_length(first[left:][::-1], ids[left:][::-1]) - tail)
    return _Branch(ids, left, joined)


def _chunks(branches: Sequence[_Branch]) -> Iterator[list[_Branch]]:
    """The branches in order, as many at a time as have `CHUNK` ids together, but at least one."""
    chunk: list[_Branch] = []
    for branch in branches:
        if chunk and sum(len(other.read) for other in chunk) + len(branch.read) > CHUNK:
            yield chunk
            chunk = []
        chunk.append(branch)
    if chunk:
        yield chunk


def _chosen(logits: Any, ids: Sequence[int]) -> tuple[float, ...]:
    """The log-probabilities of ids, one row of logits each."""
    import torch

    targets = torch.tensor(ids, dtype=torch.long, device=logits.device)
    values = logits.float().gather(1, targets[:, None])[:, 0] - logits.float().logsumexp(1)
    return tuple(map(float, values))


def likelihood_features(one: TokenScores, other: TokenScores) -> dict[str, float]:
    """The features of one text minus those of the other.

    `log-likelihood` is the sum over tokens. The change is the tokens that the other text does not have. Its features
    are 0 if one text has no such tokens: then nothing is compared.
    """
    from judge_r1.models.kv_cache import shared_length

    left = shared_length(one.ids, other.ids)
    right = shared_length(one.ids[left:][::-1], other.ids[left:][::-1])
    cut = (one.ids[left : len(one.ids) - right], other.ids[left : len(other.ids) - right])
    opcodes = SequenceMatcher(None, *cut, autojunk=False).get_opcodes()
    changes = [[left + place for place in places] for kind, *places in opcodes if kind != "equal"]
    mine = [value for a1, a2, _, _ in changes for value in one.logprobs[a1:a2]]
    theirs = [value for _, _, b1, b2 in changes for value in other.logprobs[b1:b2]]
    both = bool(mine and theirs)
    return {
        "log-likelihood": sum(one.logprobs) - sum(other.logprobs),
        "mean log-likelihood": _mean(one.logprobs) - _mean(other.logprobs),
        "mean log-likelihood of the change": _mean(mine) - _mean(theirs) if both else 0.0,
        "least likely token of the change": min(mine) - min(theirs) if both else 0.0,
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def pair_likelihoods(
    pairs: Sequence[ReasoningPair],
    reader: LikelihoodReader,
    track: Callable[[Sequence[Sequence[ReasoningPair]]], Iterator[Sequence[ReasoningPair]]] = iter,
) -> dict[str, dict[str, float]]:
    """Pair id -> the features of A minus those of B. `track` wraps the loop over cases, for a progress bar."""
    by_reference: dict[str, list[ReasoningPair]] = defaultdict(list)
    for pair in pairs:
        by_reference[pair.reference].append(pair)
    features: dict[str, dict[str, float]] = {}
    for own in track(list(by_reference.values())):
        reference, *others = reader.read([own[0].reference, *(pair.flawed for pair in own)])
        for pair, other in zip(own, others, strict=True):
            sides = (reference, other) if pair.preferred == "A" else (other, reference)
            features[pair.pair_id] = likelihood_features(*sides)
    return features
