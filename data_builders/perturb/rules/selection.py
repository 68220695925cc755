"""Chooses among candidate flaws so that readers without the case find nothing in the whole set.

A linear reader learns nothing from features whose mean difference between the better and the flawed reasoning is zero.
The selection keeps running sums of these differences by group (principle and domain) and takes the candidate that
brings them nearest to zero: herding (Welling, 2009). A case is left out if every candidate would move a sum past its
limit. The features are counts, log-likelihoods under a language model, and the words that a flaw adds and removes.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from data_builders.audit.text_counts import text_counts
from judge_r1.core.records import ReasoningPair

T = TypeVar("T")
Likelihoods = Callable[[str, Sequence[str]], Sequence[Mapping[str, float]]]
"""Maps a reference and flawed reasonings to the likelihood features of each, flawed minus reference."""

SCALES = {
    "characters": 8.0,
    "words": 1.5,
    "different words": 1.5,
    "unexpected words": 1.5,
    "numbers": 1.0,
    "mean word length": 0.03,
    "log-likelihood": 6.0,
    "mean log-likelihood": 0.03,
    "mean log-likelihood of the change": 1.0,
    "least likely token of the change": 2.0,
}
"""The difference of each feature that counts about as much as its sign."""
WORD_WEIGHT, REPEAT_WEIGHT = 0.5, 2.0
CASE_DEPENDENT = (2, 4)


@dataclass
class _Group:
    """The sums over the chosen flaws of one group."""

    chosen: int = 0
    sums: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    signs: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    words: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Flawed:
    """A candidate: its pair, and the differences that `Selection.measure` found."""

    pair: ReasoningPair
    features: Mapping[str, float]
    words: Mapping[str, int]


class Selection:
    """The state of one build. Choices depend on the order of the cases, which a build fixes.

    `likelihoods` may be None: then the language model's features are not balanced.
    """

    def __init__(self, likelihoods: Likelihoods | None = None) -> None:
        self._likelihoods = likelihoods
        self._groups: defaultdict[tuple[str, str], _Group] = defaultdict(_Group)

    def measure(self, pairs: Sequence[ReasoningPair]) -> list[Flawed]:
        """Measure candidates of one case."""
        if not pairs:
            return []
        reference = pairs[0].reference
        before, single_share = text_counts(reference), _single_share(reference)
        read = self._likelihoods(reference, [pair.flawed for pair in pairs]) if self._likelihoods else [{}] * len(pairs)
        return [
            Flawed(
                pair,
                {**_count_differences(before, text_counts(pair.flawed), single_share), **likelihoods},
                _changed_words(reference, pair.flawed),
            )
            for pair, likelihoods in zip(pairs, read, strict=True)
        ]

    def choose(self, candidates: Sequence[Flawed], penalties: Sequence[float]) -> int | None:
        """The index of the candidate that balances its group best, or None if each moves a sum past its limit.

        `penalties` are added to the costs. The choice is not recorded: see `record`.
        """
        allowed = [i for i, candidate in enumerate(candidates) if self._within_limits(candidate)]
        return min(allowed, key=lambda i: (self._cost(candidates[i]) + penalties[i], i), default=None)

    def record(self, chosen: Flawed) -> None:
        """Add a flaw to the sums of its group."""
        group = self._group(chosen.pair)
        group.chosen += 1
        for name, value in chosen.features.items():
            group.sums[name] += _scaled(name, value)
            group.signs[name] += (value > 0) - (value < 0)
        group.words.update(chosen.words)

    def _group(self, pair: ReasoningPair) -> _Group:
        kind = f"P{pair.violated[0]}" if pair.kind == "single" else "multi"
        return self._groups[kind, pair.domain]

    def _within_limits(self, candidate: Flawed) -> bool:
        """Whether no sign becomes more frequent than a reader may find, unless the flaw makes it rarer."""
        group = self._group(candidate.pair)
        strict = candidate.pair.kind == "single" and candidate.pair.violated[0] in CASE_DEPENDENT
        limit = 2 + (0.04 if strict else 0.25) * group.chosen
        return all(
            abs(group.signs[name] + sign) <= max(limit, abs(group.signs[name]))
            for name, value in candidate.features.items()
            for sign in [(value > 0) - (value < 0)]
        )

    def _cost(self, candidate: Flawed) -> float:
        """How much the squared sums of the group grow."""
        group = self._group(candidate.pair)
        cost = 0.0
        for name, value in candidate.features.items():
            scaled, sign = _scaled(name, value), (value > 0) - (value < 0)
            cost += scaled * (2 * group.sums[name] + scaled) + sign * (2 * group.signs[name] + sign)
        words = sum(change * (2 * group.words[word] + change) for word, change in candidate.words.items())
        return cost + WORD_WEIGHT * words


def _count_differences(
    before: Mapping[str, float], after: Mapping[str, float], single_share: float
) -> dict[str, float]:
    """The differences of the counts, and the new words beyond those that as much text of this author would bring."""
    differences = {name: after[name] - before[name] for name in before}
    return differences | {"unexpected words": differences["different words"] - single_share * differences["words"]}


def _single_share(text: str) -> float:
    """The share of the words of a text that occur once in it: so many are lost if a part of it is removed."""
    counts = Counter(re.findall(r"\w+", text.lower()))
    return sum(count == 1 for count in counts.values()) / max(1, counts.total())


def _scaled(name: str, value: float) -> float:
    """The difference in units of its scale. Linear, because a linear reader sees the sum of the differences."""
    return value / SCALES[name]


def _changed_words(reference: str, flawed: str) -> dict[str, int]:
    """Each word that the flaw adds (+1) or removes (-1)."""
    old, new = reference.lower().split(), flawed.lower().split()
    before, after = Counter(old), Counter(new)
    return {word: 1 if after[word] > before[word] else -1 for word in before | after if after[word] != before[word]}
