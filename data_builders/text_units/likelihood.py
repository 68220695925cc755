"""What a causal language model says of the two reasonings of a pair, without the case.

A flaw that makes a text unlikely can be found without knowing what is true. The model reads each reasoning alone. The
reasonings of a case share most of their text, so the reference is read once for each row of texts, and each flawed one
from its first change.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any

from judge_r1.core.records import ReasoningPair

CHUNK = 2048
"""Tokens of a forward pass over several texts."""
ROWS = 64
"""Rows of logits whose float32 copies fit the caches of a processor."""
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

        from judge_r1.models.cpu.branch_attention import can_branch
        from judge_r1.models.hub import load_model, load_tokenizer

        self._model, self._tokenizer = load_model(name).eval(), load_tokenizer(name)
        start = self._tokenizer.bos_token_id
        self._start = self._tokenizer.eos_token_id if start is None else start
        self._can_branch = can_branch(self._model)

    def read(self, texts: Sequence[str]) -> list[TokenScores]:
        """The scores of each text. The first text is read whole, the others from where they leave it."""
        from judge_r1.models.cpu.branch_attention import grouped
        from judge_r1.models.kv_cache import shared_length

        first, *others = (tuple(self._tokenizer(text, add_special_tokens=False)["input_ids"]) for text in texts)
        branches = [_Branch(ids, shared_length(first, ids)) for ids in others]
        parts = sorted(dict.fromkeys([whole := _Branch(first, 0), *branches]), key=lambda part: part.left)
        read: dict[_Branch, tuple[float, ...]] = {}
        # The first text stands in every row, so a row has several times its length.
        most = max(CHUNK, 4 * len(first)) if self._can_branch else 0
        for own in grouped(parts, lambda part: len(part.read), most):
            read.update(zip(own, self._read(first if self._can_branch else own[0].ids, own), strict=True))
        kept = read[whole]
        others_read = [TokenScores(one.ids, (*kept[: one.left], *read[one])) for one in branches]
        return [TokenScores(first, kept), *others_read]

    def _read(self, first: Sequence[int], branches: "Sequence[_Branch]") -> list[tuple[float, ...]]:
        """The log-probabilities of the ids of each branch, in one forward pass over a row with the first text."""
        import torch

        from judge_r1.models.cpu.branch_attention import branching_row

        given, positions, parts = [self._start, *first], [*range(len(first) + 1)], [(0, len(first) + 1)]
        rows = list[int]()
        for branch in branches:
            count = len(branch.read)
            if branch.ids == first:
                rows += range(branch.left, branch.left + count)
            elif count:
                # The last id that it shares with the first text predicts its first one.
                rows += [branch.left, *range(len(given), len(given) + count - 1)]
                given += branch.read[:-1]
                positions += range(branch.left + 1, branch.left + count)
                if count > 1:
                    parts.append((branch.left + 1, count - 1))
        device = self._model.device
        with torch.inference_mode(), branching_row(self._model, parts) if self._can_branch else nullcontext():
            logits = self._model(
                torch.tensor([given], device=device),
                position_ids=torch.tensor([positions], device=device),
                use_cache=False,
                logits_to_keep=torch.tensor(rows, dtype=torch.long, device=device),
            ).logits[0]
        values = iter(_chosen(logits, [id_ for branch in branches for id_ in branch.read]))
        return [tuple(islice(values, len(branch.read))) for branch in branches]


@dataclass(frozen=True)
class _Branch:
    """The ids of a text that leaves the first one after `left` ids."""

    ids: tuple[int, ...]
    left: int

    @property
    def read(self) -> tuple[int, ...]:
        return self.ids[self.left :]


def _chosen(logits: Any, ids: Sequence[int]) -> list[float]:
    """The log-probabilities of ids, one row of logits each."""
    import torch

    targets = torch.tensor(ids, dtype=torch.long, device=logits.device)
    losses = [
        torch.nn.functional.cross_entropy(rows.float(), chosen, reduction="none")
        for rows, chosen in zip(torch.split(logits, ROWS), torch.split(targets, ROWS), strict=True)
    ]
    return (-torch.cat(losses)).tolist()


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
