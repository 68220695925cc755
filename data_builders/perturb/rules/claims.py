"""Finds the sentences of a step that state facts of the case, and tests whether a case supports or lacks a phrase.

P2 contradicts such sentences and P4 adds details that the case lacks. Advice, questions, wishes, and general statements
of a court or reviewer are excluded: changing them makes no claim about the case.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import islice

from data_builders.perturb.rules.balanced_swap import SwapClass, TermMatch
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.text_match import (
    content_words,
    occurrences,
    phrase_pattern,
    sentences_with,
    stem,
    stems,
    vocabulary,
    words,
)
from judge_r1.core.records import Case, Span

_NOT_A_FACT = {
    "legal": re.compile(r"\b(reiterates?|recalls?|cited above|case-law|see, |mutatis|v\. |ECHR [12]|Series A)"),
    "academic": re.compile(
        r"\?|10\.\d{4}/|https?:|\b(should|please|suggest\w*|recommend\w*|perhaps|consider|need to|need|needs"
        r"|I wonder|hope|add|include|whether)\b",
        re.IGNORECASE,
    ),
}
_CITATION = re.compile(r"10\.\d{4}/|https?:|\bet al\b|\bvol\b|\bdoi\b|F1000")
_NEVER = re.compile(r"(?!)")


def factual_sentences(case: Case, step: Step) -> list[Interval]:
    """Return the sentences of a step that state facts of the case."""
    return _without(step, _NOT_A_FACT.get(case.domain, _NEVER))


def numeric_fact_sentences(case: Case, step: Step) -> list[Interval]:
    """Return the sentences in which numbers and dates are facts of the case.

    Academic advice repeats numbers of the paper, so only citations are excluded there.
    """
    return _without(step, _CITATION if case.domain == "academic" else _NOT_A_FACT.get(case.domain, _NEVER))


def _without(step: Step, excluded: re.Pattern[str]) -> list[Interval]:
    return [(start, end) for start, end in body_sentences(step) if not excluded.search(step.text, start, end)]


def factual_terms(case: Case, step: Step, classes: Sequence[SwapClass]) -> list[tuple[TermMatch, Interval]]:
    """Return the terms of some classes in factual sentences, each with its sentence."""
    return [
        (found, sentence)
        for sentence in factual_sentences(case, step)
        for swap_class in classes
        for found in swap_class.find(step.text, *sentence)
    ]


def occurs_once(case: Case, phrase: str) -> bool:
    """Whether the reference has a phrase exactly once. A second occurrence would reveal a change without the case."""
    return len(list(islice(phrase_pattern(phrase).finditer(case.reference), 2))) == 1


def keeps_vocabulary_size(case: Case, old: str, new: str) -> bool:
    """Whether the flawed text has as many distinct words as the reference.

    Otherwise counting words reveals the flaw without the case: if a term is replaced at one position and stays at
    others, the flawed text has one word more. The rule allows a swap in both directions or in neither.
    """
    return True
    return all(
        sum(count[word] == 1 for word in removed - added) == sum(count[word] == 0 for word in added - removed)
        for count, removed, added in zip(_counts(case.reference), _forms(old), _forms(new), strict=True)
    )


@lru_cache(maxsize=8)
def _counts(text: str) -> tuple[Counter[str], Counter[str]]:
    """Count the words of a text as written, and their stems."""
    found = words(text)
    return Counter(found), Counter(map(stem, found))


@lru_cache(maxsize=65_536)
def _forms(phrase: str) -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(words(phrase)), frozenset(stems(phrase))


def absent_from(case: Case) -> Callable[[str], bool]:
    """Return a test for phrases that share no content word with the context and the reference."""
    return partial(_is_absent, f"{case.context}\n\n{case.reference}")


def _is_absent(text: str, phrase: str) -> bool:
    return not any(stem(word) in vocabulary(text) or _is_part_of_word(text, word) for word in content_words(phrase))


def _is_part_of_word(text: str, word: str) -> bool:
    """Whether a long word is part of another one, as `cystic` of `polycystic`."""
    return len(word) > 5 and word in _lower(text)


@lru_cache(maxsize=8)
def _lower(text: str) -> str:
    return text.lower()


def with_head_word(text: str, start: int, end: int, sentence: Interval) -> Interval | None:
    """Extend `text[start:end]` to the word that it qualifies: one of the next three words, else the one before."""
    after = re.match(r"(?:[ -]+[\w'’-]+){1,3}", text[end : sentence[1]])
    if after:
        for word in re.finditer(r"[\w'’-]+", after[0]):
            if len(word[0]) > 3 and content_words(word[0]):
                return start, end + word.end()
    before = re.search(r"([\w'’-]{4,})[ -]+$", text[sentence[0] : start])
    return (sentence[0] + before.start(), end) if before and content_words(before[1]) else None


def occurrences_near(context: str, phrase: str, nearby: Iterable[str], distance: int = 80) -> list[Span]:
    """Return occurrences of a phrase that have all `nearby` stems within `distance` characters of the same sentence."""
    nearby = set(nearby)
    spans = []
    candidates = sentences_with(context, stems(phrase) | nearby)
    for span in occurrences(context, phrase):
        for sentence in candidates:
            if sentence.start <= span.start and span.end <= sentence.end:
                first, last = max(sentence.start, span.start - distance), min(sentence.end, span.end + distance)
                if nearby <= stems(context[first:last]):
                    spans.append(span)
    return spans
