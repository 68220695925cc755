"""Guesses the likelihood features of flaws before a language model reads them, so that it reads only promising ones.

The model has read the reference, so the log-probability of a removed passage is known. That of an inserted passage is
guessed from those of the same text, or else from those that the same operator inserted before.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Protocol

from data_builders.perturb.rules.text_match import changed
from judge_r1.core.records import Span

TokenSpan = tuple[int, int, float]
"""The start and end of a token in characters, and its log-probability in nats."""
CHANGE = "mean log-likelihood of the change"
FIRST_GUESS, CHARACTERS = -5.0, 4.0
"""The mean log-probability of the words of an operator that was never read, and the characters of a token."""


class Likelihoods(Protocol):
    """What a language model says of the reasonings of a case."""

    def tokens(self, reference: str) -> Sequence[TokenSpan]:
        """The tokens of a reference."""
        ...

    def features(self, reference: str, flawed: Sequence[str]) -> Sequence[Mapping[str, float]]:
        """The likelihood features of flawed reasonings, flawed minus reference."""
        ...


class LikelihoodGuess:
    """Keeps the mean log-probability of what each operator inserts, and that of each text with its tokens."""

    def __init__(self) -> None:
        self._inserted: defaultdict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
        self._texts: defaultdict[str, tuple[int, float, float]] = defaultdict(lambda: (0, 0.0, 0.0))

    def features(
        self, operator: str, reference: str, flawed: str, span: Span, tokens: Sequence[TokenSpan]
    ) -> dict[str, float]:
        """The guessed features of a flawed reasoning, flawed minus reference. `span` is the flaw's."""
        times, whole, count = self._texts[_text(flawed, span)]
        if times:
            removed = _replaced(reference, flawed, span, tokens)
            inserted, mean = count / times, whole / max(1.0, count)
            difference = whole / times - sum(removed)
        else:
            start, old_end, new_end = changed(reference, flawed)
            removed = _removed(tokens, start, old_end)
            inserted, (seen, total_seen) = (new_end - start) / CHARACTERS, self._inserted[operator]
            mean = (total_seen / seen if seen else FIRST_GUESS) if inserted else 0.0
            difference = inserted * mean - sum(removed)
        total, length = sum(value for _, _, value in tokens), len(tokens) or 1
        longer = inserted - len(removed)
        return {
            "log-likelihood": difference,
            "mean log-likelihood": (difference - longer * total / length) / max(1.0, length + longer),
            CHANGE: mean - _mean(removed) if inserted and removed else 0.0,
        }

    def learn(
        self,
        operator: str,
        reference: str,
        flawed: str,
        span: Span,
        tokens: Sequence[TokenSpan],
        features: Mapping[str, float],
    ) -> None:
        """Remember the features that the language model has found."""
        start, old_end, _ = changed(reference, flawed)
        if features[CHANGE]:
            seen, total = self._inserted[operator]
            self._inserted[operator] = seen + 1, total + features[CHANGE] + _mean(_removed(tokens, start, old_end))
        removed, values = _replaced(reference, flawed, span, tokens), [value for _, _, value in tokens]
        mean = _mean(values) + features["mean log-likelihood"]
        if not mean:
            return
        longer = round((sum(values) + features["log-likelihood"]) / mean) - len(values)
        times, whole, count = self._texts[_text(flawed, span)]
        whole += features["log-likelihood"] + sum(removed)
        self._texts[_text(flawed, span)] = times + 1, whole, count + max(0, len(removed) + longer)


def _text(flawed: str, span: Span) -> str:
    return flawed[span.start : span.end].strip()


def _replaced(reference: str, flawed: str, span: Span, tokens: Sequence[TokenSpan]) -> list[float]:
    """The log-probabilities of what the text at `span` replaces."""
    return _removed(tokens, span.start, span.end - (len(flawed) - len(reference)))


def _removed(tokens: Sequence[TokenSpan], start: int, end: int) -> list[float]:
    return [value for begin, stop, value in tokens if begin < end and stop > start]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
