"""Counts of a text that need no understanding of it, and the one-line rules that choose a reasoning by one of them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from judge_r1.core.records import ReasoningPair

COUNTS = ("characters", "words", "different words", "shared words", "numbers")
"""The counts that the reader `length` learns from."""
RULES: Mapping[str, tuple[str, str]] = {
    "words": ("fewer words", "more words"),
    "different words": ("fewer different words", "more different words"),
    "shared words": ("fewer shared words", "more shared words"),
    "numbers": ("fewer numbers", "more numbers"),
    "mean word length": ("shorter words", "longer words"),
}
"""Count -> the rule that prefers the smaller one, and the rule that prefers the larger one."""
LONG = 4
"""Characters of a word that shows what a sentence is about."""
_SENTENCE = re.compile(r"(?<=[.!?”])\s+|\n+")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


@lru_cache(maxsize=8192)
def text_counts(text: str) -> Mapping[str, float]:
    """The counts `COUNTS` of a text, and its mean word length in characters."""
    words = _WORD.findall(text.lower())
    return {
        "characters": len(text),
        "words": len(words),
        "different words": len(set(words)),
        "shared words": _shared_words(text.lower()),
        "numbers": len(_NUMBER.findall(text)),
        "mean word length": sum(map(len, words)) / len(words) if words else 0.0,
    }


def _shared_words(text: str) -> float:
    """The mean share of a sentence's long words that other sentences have: one on another subject shares few."""
    sentences = [{word for word in _WORD.findall(part) if len(word) >= LONG} for part in _SENTENCE.split(text)]
    counts = Counter(word for sentence in sentences for word in sentence)
    shares = [sum(counts[word] > 1 for word in sentence) / len(sentence) for sentence in sentences if sentence]
    return sum(shares) / len(shares) if shares else 0.0


def rule_scores(pairs: Sequence[ReasoningPair], count: str) -> list[float]:
    """1 for each pair whose better reasoning has the smaller count, 0 for the larger one, 1/2 for a tie."""
    margins = [text_counts(pair.flawed)[count] - text_counts(pair.reference)[count] for pair in pairs]
    return sign_scores(margins)


def sign_scores(margins: Sequence[float]) -> list[float]:
    """1 for each positive margin, 0 for a negative one, 1/2 for zero."""
    return [(1 + (margin > 0) - (margin < 0)) / 2 for margin in margins]
