"""Matches phrases against texts: whole words, case-insensitive, white space and hyphens treated alike."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from data_builders.lexicons import load_lexicon
from data_builders.text_units.steps import sentences
from judge_r1.core.records import Span

WORD = re.compile(r"\d+(?:[.,·]\d+)*|[^\W\d_]+")
_BEFORE, _BEHIND = r"(?<![\w.,·])(?<!\d[-–])", r"(?![\w]|[.,·]\d)"
"""What must not stand around a phrase: a letter, a digit, or the rest of a number or range."""
_NUMBER = re.compile(rf"{_BEFORE}\d+(?:[.,·]\d+)*{_BEHIND}")
_FUNCTION_WORDS = load_lexicon("function_words", frozenset[str])


def words(text: str) -> list[str]:
    """Return the lower-case words and numbers of a text."""
    return [word.lower() for word in WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """Return the distinct stems of numbers and of words that are not function words, in order."""
    found = (word for word in words(text) if word.isdigit() or (len(word) > 1 and word not in _FUNCTION_WORDS))
    return list(dict.fromkeys(map(stem, found)))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Strip a plural or similar ending, so that `biopsies` matches `biopsy`."""
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ses", "s"), ("s", "")):
        if len(word) > 4 and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            return word[: -len(ending)] + rest
    return word


def stems(text: str) -> set[str]:
    """Return the stems of all words and numbers of a text."""
    return set(map(stem, words(text)))


@dataclass(frozen=True)
class Sentence:
    """Characters `[start, end)` of a text, and the stems in them."""

    start: int
    end: int
    stems: frozenset[str]


@lru_cache(maxsize=8)
def sentence_index(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of a text with their stems."""
    return tuple(Sentence(start, end, frozenset(stems(text[start:end]))) for start, end in sentences(text))


@lru_cache(maxsize=8)
def _postings(text: str) -> dict[str, list[int]]:
    """Map each stem to the indices of its sentences, in order."""
    postings: dict[str, list[int]] = {}
    for number, sentence in enumerate(sentence_index(text)):
        for word in sentence.stems:
            postings.setdefault(word, []).append(number)
    return postings


def sentences_with(text: str, wanted: Iterable[str]) -> list[Sentence]:
    """Return the sentences of a text that contain all wanted stems."""
    postings = _postings(text)
    found = sorted((postings.get(word, []) for word in dict.fromkeys(wanted)), key=len)
    if not found:
        return list(sentence_index(text))
    return [sentence_index(text)[number] for number in sorted(set(found[0]).intersection(*found[1:]))]


@lru_cache(maxsize=4096)
def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Return a pattern for the phrase as whole words; runs of white space and hyphens match each other."""
    parts = [re.escape(part) for part in re.split(r"[\s-]+", phrase.strip()) if part]
    return re.compile(_BEFORE + r"[\s-]+".join(parts) + _BEHIND, re.IGNORECASE)


def occurrences(text: str, phrase: str) -> list[Span]:
    """Return every occurrence of a phrase in a text."""
    return [Span(start=m.start(), end=m.end()) for m in phrase_pattern(phrase).finditer(text)]


@lru_cache(maxsize=64)
def numbers(text: str) -> frozenset[str]:
    """Return the numbers that a text contains, as `contains` finds them."""
    return frozenset(_NUMBER.findall(text))


def contains(text: str, phrase: str) -> bool:
    """Whether a text contains a phrase."""
    return phrase_pattern(phrase).search(text) is not None


def changed(reference: str, flawed: str) -> tuple[int, int, int]:
    """The first character that differs, and the end of the different part in the reference and in the other text."""
    shorter = min(len(reference), len(flawed))
    start = _longest(shorter, lambda length: reference.startswith(flawed[:length]))
    same = _longest(shorter - start, lambda length: reference.endswith(flawed[len(flawed) - length :]))
    return start, len(reference) - same, len(flawed) - same


def _longest(most: int, holds: Callable[[int], bool]) -> int:
    """The greatest length up to `most` that holds, by bisection: shorter ones hold too."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if holds(middle) else (least, middle - 1)
    return least
