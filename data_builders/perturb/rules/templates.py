"""Fills wording templates, and registers operators that put one into a step."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from data_builders.perturb.rules.operators import Edit, Interval, Step, operator
from data_builders.perturb.rules.steps import body_sentences
from judge_r1.core.records import Case

SLOT = re.compile(r"\{(\w+)\}")

Parts = Mapping[str, Sequence[str]]
FindParts = Callable[[Step], Sequence[Interval]]
LENGTHS, INSERTED = (0.3, 0.5, 0.8, 1.2), (40, 70, 110)
"""Lengths of a wording relative to what it replaces, and those of an insertion in characters."""
SAMPLES, LENGTH_SAMPLES = 24, 5
"""Wordings per draw, and those that a draw for length only compares: the nearest of many would always be the same."""
NEW_SHARE = 0.6
"""The share of new words in a text of a few hundred words: more of them would be unexpected."""
GOALS = ("length", "short", "known words", "expected words", "long words")
INSERTION_GOALS = ("length", "expected words", "expected words", "long words")

INSERTIONS = 0.3
"""The share of draws that may insert: every place allows it, and few allow a shorter text."""
KEPT_NUMBERS = 0.3
"""The share of draws that may remove numbers: few wordings have numbers to add."""
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Wording:
    """Templates and the entries of their slots. No slot of a template is empty."""

    templates: Sequence[str]
    parts: Parts


WordPart = Callable[[Case, Step, str, Random], Wording]
"""Returns wordings for a sentence of a step."""


def fill(templates: Sequence[str], parts: Parts, rng: Random) -> str:
    """Fill the `{slot}`s of a random template from `parts`, including slots inside the parts."""
    text = rng.choice(templates)
    while match := SLOT.search(text):
        text = text[: match.start()] + rng.choice(parts[match[1]]) + text[match.end() :]
    return text


def fill_to_goal(wording: Wording, length: int, known: Counter[str], rng: Random, goals: Sequence[str] = GOALS) -> str:
    """Return the sampled wording that suits a random goal: near to a length, short, of `known` or of long words.

    A reader must not learn that flaws have other words, or shorter ones, than the rest of a reasoning.
    """
    texts = [fill(wording.templates, wording.parts, rng) for _ in range(SAMPLES)]
    goal = rng.choice(goals)
    if goal == "length":
        return min(texts[:LENGTH_SAMPLES], key=lambda text: abs(len(text) - length))
    if goal == "short":
        return min(texts, key=len)
    near = sorted(texts, key=lambda text: abs(len(text) - length))[: SAMPLES // 2]
    if goal == "known words":
        return min(near, key=lambda text: _new_words(text, known))
    if goal == "expected words":
        return min(near, key=lambda text: _new_words(text, known) - NEW_SHARE * len(_WORD.findall(text)))
    return max(near, key=lambda text: len(re.sub(r"\W", "", text)) / len(_WORD.findall(text)))


def _new_words(text: str, known: Counter[str]) -> int:
    return sum(word not in known for word in set(_WORD.findall(text.lower())))


@lru_cache(maxsize=16)
def word_counts(text: str) -> Counter[str]:
    """Count the words of a text in lower case."""
    return Counter(_WORD.findall(text.lower()))


def match_first_letter(new: str, old: str) -> str:
    """Capitalize `new` where `old` starts with a capital."""
    return new[0].upper() + new[1:] if old[0].isupper() else new


def as_sentence(text: str) -> str:
    """Add a capital and, if the text has no closing mark, a full stop."""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def sentence_at(step: Step, part: Interval) -> str:
    """Return the sentence of the step's body that has the part, or ends at it."""
    return next((step.text[a:b] for a, b in body_sentences(step, 1) if a <= part[0] <= b), step.text)


def in_sentences(find: Callable[[str, int, int], Iterable[Interval]], min_words: int) -> FindParts:
    """Apply a finder from `clauses` to every sentence of a step's body that has `min_words` words."""
    return lambda step: [
        found for start, end in body_sentences(step, min_words) for found in find(step.text, start, end)
    ]


def register_rewrite(
    principle: int, name: str, find: FindParts, word: WordPart, *, whole_sentence: bool = False
) -> None:
    """Register an operator that replaces one of the parts in `find(step)` with a wording of `word`.

    An empty part is an insertion. A wording is shorter than the part, longer, or about as long.
    """

    @operator(principle, name)
    def rewrite(case: Case, step: Step, rng: Random) -> Edit | None:
        found = find(step)
        if rng.random() >= KEPT_NUMBERS:
            found = [part for part in found if not _DIGIT.search(step.text, *part)]
        if not found:
            return None
        start, end = rng.choice(found)
        if start == end and rng.random() >= INSERTIONS:
            return None
        wording = word(case, step, sentence_at(step, (start, end)), rng)
        if not wording.templates:
            return None
        length = round((end - start) * rng.choice(LENGTHS)) or rng.choice(INSERTED)
        known = word_counts(case.reference) - Counter(_WORD.findall(step.text[start:end].lower()))
        text = fill_to_goal(wording, length, known, rng, GOALS if start < end else INSERTION_GOALS)
        if whole_sentence:
            text = as_sentence(text) if start < end else " " + as_sentence(text)
        elif start < end and text[0].isalpha():
            text = match_first_letter(text, step.text[start:end])
        return step.edit((start, end), text)
