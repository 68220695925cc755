"""String match of a phrase against a text: whole words, any case, white space and hyphens alike."""

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import lru_cache

from data_builders.perturb.rules.steps import sentences
from judge_r1.core.records import Span

WORD = re.compile(r"\d+(?:[.,·]\d+)*|[^\W\d_]+")
_GRAMMAR = """
    a an the and or but nor of in on at to from by for with without as is are was were be been being it its this that
    these those he she his her they their them him has have had not no do does did than then so if when which who whom
    whose what where there here also only any all such into over under between during after before about
"""
_FUNCTION_WORDS = frozenset(_GRAMMAR.split())


def words(text: str) -> list[str]:
    """Lower-case words and numbers of a text."""
    return [word.lower() for word in WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """The words that carry a claim, each once: numbers, and words that are not mere grammar."""
    kept = (word for word in words(text) if word.isdigit() or (len(word) > 1 and word not in _FUNCTION_WORDS))
    return list(dict.fromkeys(map(stem, kept)))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A word without its plural or past ending, so that `biopsies` meets `biopsy`."""
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ses", "s"), ("s", "")):
        if len(word) > 4 and word.endswith(ending) and not word.endswith(("ss", "us", "is")):
            return word[: -len(ending)] + rest
    return word


@dataclass(frozen=True)
class Sentence:
    start: int
    end: int
    words: frozenset[str]


@lru_cache(maxsize=8)
def index(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text with their stems."""
    return tuple(Sentence(start, end, frozenset(map(stem, words(text[start:end])))) for start, end in sentences(text))


@lru_cache(maxsize=8)
def _postings(text: str) -> dict[str, list[int]]:
    """Which sentences have a stem, in order."""
    places: dict[str, list[int]] = {}
    for number, sentence in enumerate(index(text)):
        for word in sentence.words:
            if word in places:
                places[word].append(number)
            else:
                places[word] = [number]
    return places


def vocabulary(text: str) -> Container[str]:
    """All stems of a text."""
    return _postings(text).keys()


def holding(text: str, wanted: Iterable[str]) -> list[Sentence]:
    """The sentences of a text that hold all the wanted stems."""
    postings = _postings(text)
    found = sorted((postings.get(word, []) for word in dict.fromkeys(wanted)), key=len)
    if not found:
        return list(index(text))
    return [index(text)[number] for number in sorted(set(found[0]).intersection(*found[1:]))]


def pattern(phrase: str) -> re.Pattern[str]:
    """The phrase as whole words; runs of white space and hyphens match each other."""
    parts = [re.escape(part) for part in re.split(r"[\s-]+", phrase.strip()) if part]
    return re.compile(r"(?<![\w.,·])(?<!\d[-–])" + r"[\s-]+".join(parts) + r"(?![\w]|[.,·]\d)", re.IGNORECASE)


def occurrences(text: str, phrase: str) -> list[Span]:
    """Every place where a text has the phrase."""
    return [Span(start=m.start(), end=m.end()) for m in _pattern(phrase).finditer(text)]


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    return pattern(phrase)


def says(text: str, phrase: str) -> bool:
    """Whether a text has the phrase."""
    return _pattern(phrase).search(text) is not None
