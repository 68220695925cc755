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
    sentences = [_words_of(part) for part in _SENTENCE.split(text.lower())]
    words = sum(count for count, _, _, _ in sentences)
    letters = sum(count for _, count, _, _ in sentences)
    return {
        "characters": len(text),
        "words": words,
        "different words": len(frozenset().union(*(different for _, _, different, _ in sentences))),
        "shared words": _shared_words([long for _, _, _, long in sentences]),
        "numbers": len(_NUMBER.findall(text)),
        "mean word length": letters / words if words else 0.0,
    }


@lru_cache(maxsize=8192)
def _words_of(sentence: str) -> tuple[int, int, frozenset[str], frozenset[str]]:
    """The number of words of a sentence, that of their characters, its different words, and the long ones."""
    words = _WORD.findall(sentence)
    different = frozenset(words)
    return len(words), sum(map(len, words)), different, frozenset(word for word in different if len(word) >= LONG)


def _shared_words(sentences: Sequence[frozenset[str]]) -> float:
    """The mean share of a sentence's long words that other sentences have: one on another subject shares few."""
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
