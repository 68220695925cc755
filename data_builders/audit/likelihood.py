"""What a causal language model says of the two reasonings of a pair, without the case.

A flaw that makes a text unlikely can be found without knowing what is true. The model reads each reasoning alone. The
reasonings of a case share most of their text, so the reference is read once and each flawed one from its first change.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from judge_r1.core.records import ReasoningPair

DEFAULT_MODEL = "bundled:smollm2-135m"
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

    def __init__(self, name: str = DEFAULT_MODEL) -> None:
        from judge_r1.models.hub import load_model, load_tokenizer

        self._model, self._tokenizer = load_model(name).eval(), load_tokenizer(name)
        start = self._tokenizer.bos_token_id
        self._start = self._tokenizer.eos_token_id if start is None else start

    def read(self, texts: Sequence[str]) -> list[TokenScores]:
        """The scores of each text. The first text is read whole, the others from where they leave it."""
        from transformers import DynamicCache

        from judge_r1.models.kv_cache import shared_length

        encoded = [tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts]
        scores: list[TokenScores | None] = [None] * len(texts)
        cache = DynamicCache()
        first = self._continue(cache, [self._start], encoded[0])
        scores[0] = TokenScores(encoded[0], tuple(first))
        shared = {i: shared_length(encoded[0], encoded[i]) for i in range(1, len(texts))}
        for i in sorted(shared, key=lambda i: -shared[i]):  # the cache only ever gets shorter
            keep = min(shared[i], len(encoded[i]) - 1)
            if keep < 0:
                scores[i] = TokenScores((), ())
                continue
            cache.crop(keep)  # the start token and all shared ids but the last, which is read again
            last = self._start if keep == 0 else encoded[0][keep - 1]
            rest = self._continue(cache, [last], encoded[i][keep:])
            scores[i] = TokenScores(encoded[i], (*first[:keep], *rest))
        return [score for score in scores if score is not None]

    def _continue(self, cache: Any, begun: Sequence[int], ids: Sequence[int]) -> list[float]:
        """The log-probabilities of `ids` after what is cached and `begun`. The last id is not added to the cache."""
        import torch

        if not ids:
            return []
        given = torch.tensor([[*begun, *ids[:-1]]], device=self._model.device)
        with torch.no_grad():
            logits = self._model(given, past_key_values=cache, use_cache=True).logits[0, len(begun) - 1 :].float()
        targets = torch.tensor(ids, device=logits.device)
        chosen = logits.gather(1, targets[:, None])[:, 0] - logits.logsumexp(1)
        return [float(value) for value in chosen]


def likelihood_features(one: TokenScores, other: TokenScores) -> dict[str, float]:
    """The features of one text minus those of the other.

    `log-likelihood` is the sum over tokens. The change is the tokens that the other text does not have.
    """
    matcher = SequenceMatcher(None, one.ids, other.ids, autojunk=False)
    changes = [(a1, a2, b1, b2) for kind, a1, a2, b1, b2 in matcher.get_opcodes() if kind != "equal"]
    mine = [value for a1, a2, _, _ in changes for value in one.logprobs[a1:a2]]
    theirs = [value for _, _, b1, b2 in changes for value in other.logprobs[b1:b2]]
    return {
        "log-likelihood": sum(one.logprobs) - sum(other.logprobs),
        "mean log-likelihood": _mean(one.logprobs) - _mean(other.logprobs),
        "mean log-likelihood of the change": _mean(mine) - _mean(theirs),
        "least likely token of the change": min(mine, default=0.0) - min(theirs, default=0.0),
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
