"""Chooses among flawed variants so that readers without the case find little in the whole set.

A linear reader learns nothing from features whose mean difference between the better and the flawed reasoning is zero.
`Balance` keeps running sums of these differences by group (principle and domain) and takes the variant that brings them
nearest to zero: herding (Welling, 2009), in units of the covariance of the chosen flaws, so that linear combinations of
features are balanced too. The features are counts and the words that a flaw adds and removes. A
choice is only as good as its candidates: `judge-r1 audit` measures what is left.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from data_builders.placement import set_name
from data_builders.text_units.steps import split_steps
from data_builders.text_units.text_counts import text_counts
from data_builders.text_units.text_match import WORD, changed, content_words
from judge_r1.core.records import ReasoningPair


def count_features(reference: str, flawed: str) -> dict[str, float]:
    """Return the differences of the counts of both texts, flawed minus reference.

    `unexpected words` are the new words beyond those that as much text of this author would bring. `shared words of the
    change` is the share of its words that stand elsewhere in the text, minus that of what it replaces.
    """
    before, after = text_counts(reference), text_counts(flawed)
    differences = {name: after[name] - before[name] for name in before}
    differences["unexpected words"] = differences["different words"] - _single_share(reference) * differences["words"]
    differences["shared words of the change"] = _shared_words(reference, flawed)
    return differences


def changed_words(reference: str, flawed: str) -> dict[str, int]:
    """Return each word that the flaw adds (+1) or removes (-1)."""
    start, old_end, new_end = changed(reference, flawed)
    first, rest = _blank_before(reference, start), _blank_behind(reference, old_end) - old_end
    before = Counter(reference[first : old_end + rest].lower().split())
    after = Counter(flawed[first : new_end + rest].lower().split())
    return {word: 1 if after[word] > before[word] else -1 for word in before | after if after[word] != before[word]}


def _blank_before(text: str, position: int) -> int:
    """Where the word around or before a position begins."""
    while position > 0 and not text[position - 1].isspace():
        position -= 1
    return position


def _blank_behind(text: str, position: int) -> int:
    """Where the word around or behind a position ends."""
    while position < len(text) and not text[position].isspace():
        position += 1
    return position


def _shared_words(reference: str, flawed: str) -> float:
    start, old_end, new_end = changed(reference, flawed)
    old, new = (content_words(text) for text in (reference[start:old_end], flawed[start:new_end]))
    if not old or not new:
        return 0.0
    elsewhere = _counts_without(reference, start, old_end)
    return sum(elsewhere[word] > 0 for word in new) / len(new) - sum(elsewhere[word] > 0 for word in old) / len(old)


def _counts_without(text: str, start: int, end: int) -> Counter[str]:
    """Return how often each content word is in a text without its characters `[start, end)`.

    The words are found once for each text, because many flaws of one reference are measured.
    """
    starts, ends, counts = _word_places(text)
    first, last = bisect_right(ends, start), bisect_left(starts, end)
    if first >= last:
        return counts
    left, right = min(starts[first], start), max(ends[last - 1], end)
    changed_counts = counts.copy()
    changed_counts.subtract(_content_counts(text[left:right]))
    changed_counts.update(_content_counts(f"{text[left:start]} {text[end:right]}"))
    return changed_counts


@lru_cache(maxsize=4)
def _word_places(text: str) -> tuple[list[int], list[int], Counter[str]]:
    """Return where the words of a text begin and end, and how often each content word occurs."""
    found = [match.span() for match in WORD.finditer(text)]
    return [start for start, _ in found], [end for _, end in found], _content_counts(text)


def _content_counts(text: str) -> Counter[str]:
    """Count the content words of a text."""
    return Counter(stem for word in WORD.findall(text) for stem in content_words(word))


@lru_cache(maxsize=4)
def _single_share(text: str) -> float:
    """Return the share of the words of a text that occur once in it: so many are lost if a part of it is removed."""
    counts = Counter(re.findall(r"\w+", text.lower()))
    return sum(count == 1 for count in counts.values()) / max(1, counts.total())


Vector = NDArray[np.float64]
SCALES = {
    "characters": 8.0,
    "words": 1.5,
    "different words": 1.5,
    "unexpected words": 1.5,
    "shared words": 0.01,
    "shared words of the change": 0.1,
    "numbers": 1.0,
    "mean word length": 0.03,
}
"""The difference of each feature that counts about as much as its sign."""
PRIOR = 10
"""How many chosen flaws the scales count for in the estimate of the spread."""
WORD_WEIGHT, REPEAT_WEIGHT, SIGN_WEIGHT = 0.5, 2.0, 4.0
"""What a word, an operator and the direction of a feature weigh beside a spread. A one-line rule reads directions."""


@dataclass(eq=False)
class Candidate:
    """A flawed variant with the differences to its reference. Of candidates with one `place` (the step of a single
    flaw, the principles of several), one at most is chosen in a case."""

    pair: ReasoningPair
    place: int | tuple[int, ...]
    features: dict[str, float]
    words: dict[str, int]

    @property
    def operators(self) -> list[str]:
        return [flaw.operator for flaw in self.pair.origin.flaws]


def measure(pairs: Sequence[ReasoningPair]) -> list[Candidate]:
    """Measure flawed variants. They depend on no other case."""
    return [
        Candidate(
            pair, _place(pair), count_features(pair.reference, pair.flawed), changed_words(pair.reference, pair.flawed)
        )
        for pair in pairs
    ]


def _place(pair: ReasoningPair) -> int | tuple[int, ...]:
    """The step of the reference that holds a single flaw, or the principles of several. Both reasonings are identical
    up to the first flaw."""
    if pair.kind == "multi":
        return pair.violated
    start = min(flaw.span.start for flaw in pair.origin.flaws)
    return max((step.index for step in split_steps(pair.reference) if step.start <= start), default=0)


@dataclass
class _Group:
    """The sums over the chosen flaws of one group."""

    chosen: int = 0
    sum: Vector = field(default_factory=lambda: np.zeros(len(SCALES)))
    squares: Vector = field(default_factory=lambda: PRIOR * np.eye(len(SCALES)))
    inverse: Vector = field(default_factory=lambda: np.eye(len(SCALES)))
    signs: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    words: Counter[str] = field(default_factory=Counter)

    def add(self, candidate: Candidate) -> None:
        self.chosen += 1
        scaled = _scaled(candidate)
        self.sum += scaled
        self.squares += np.outer(scaled, scaled)
        # The prior in `squares` makes the matrix invertible from the first flaw on.
        self.inverse = np.linalg.inv(self.squares / (PRIOR + self.chosen)).astype(np.float64)
        for name, value in candidate.features.items():
            self.signs[name] += _sign(value)
        self.words.update(candidate.words)

    def cost(self, candidate: Candidate) -> float:
        """How much the squared sums grow, each feature and each direction in units of its own spread."""
        scaled = _scaled(candidate)
        cost = float(scaled @ self.inverse @ (2 * self.sum + scaled))
        for name, value in candidate.features.items():
            cost += SIGN_WEIGHT * _sign(value) * (2 * self.signs[name] + _sign(value))
        words = sum(change * (2 * self.words[word] + change) for word, change in candidate.words.items())
        return cost + WORD_WEIGHT * words


class Balance:
    """The state of one build. Choices depend on the order of the cases, which a build fixes."""

    def __init__(self) -> None:
        self._groups: defaultdict[tuple[str, str], _Group] = defaultdict(_Group)

    def choose(self, sets: Sequence[Sequence[Candidate]], wanted: int) -> list[list[ReasoningPair]]:
        """Choose up to `wanted` variants of each set of one case (a principle, or several flaws), numbered from 1.

        Operators that the case has used before in the set are avoided.
        """
        return [self._choose(candidates, wanted) for candidates in sets]

    def _choose(self, free: Sequence[Candidate], wanted: int) -> list[ReasoningPair]:
        chosen: list[ReasoningPair] = []
        used: Counter[str] = Counter()
        while free and len(chosen) < wanted:
            group = self._group(free[0])
            best = min(free, key=lambda c: group.cost(c) + REPEAT_WEIGHT * sum(used[name] for name in c.operators))
            group.add(best)
            used.update(best.operators)
            free = [candidate for candidate in free if candidate.place != best.place]
            chosen.append(best.pair.model_copy(update={"variant": len(chosen) + 1}))
        return chosen

    def _group(self, candidate: Candidate) -> _Group:
        return self._groups[set_name(candidate.pair), candidate.pair.domain]


def _scaled(candidate: Candidate) -> Vector:
    return np.array([candidate.features.get(name, 0.0) / scale for name, scale in SCALES.items()])


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
