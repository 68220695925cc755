"""Finds the parts of a step that assert facts of the case. P2 contradicts them.

Advice, questions, wishes, guesses, and general statements of a court or reviewer assert nothing about the case.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice, pairwise

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.operators import Interval, Step
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.text_match import content_words, phrase_pattern, stem, vocabulary
from data_builders.perturb.rules.word_swap import SwapClass, TermMatch
from judge_r1.core.records import Case


class _Assertions(Lexicon):
    unasserted: dict[str, tuple[str, ...]]
    not_of_the_case: dict[str, tuple[str, ...]]
    generic: frozenset[str]


_LEXICON = load_lexicon("assertions", _Assertions)
GENERIC_WORDS = _LEXICON.generic
"""Words that say nothing about what a value belongs to."""
_SEGMENT = re.compile(
    r";|[,–—] (?=(?:since|because|given|as|which|who|where|although|but|so)\b)| (?=(?:because|since)\b)"
)


@dataclass(frozen=True)
class Claim:
    """An asserted part `[start, end)` of a step's text, and the sentence around it."""

    start: int
    end: int
    sentence: Interval


@lru_cache(maxsize=16)
def _pattern(domain: str, kind: str) -> re.Pattern[str]:
    by_domain = getattr(_LEXICON, kind)
    parts = [*by_domain.get("general", ()), *by_domain.get(domain, ())]
    words = [part if part[0] == "\\" or part[-1] in ".:/ " else rf"\b(?:{part})\b" for part in parts]
    return re.compile("|".join(words), re.IGNORECASE) if words else re.compile(r"(?!)")


def claims(case: Case, step: Step) -> list[Claim]:
    """Return the asserted parts of a step. A part ends at a semicolon and before a subordinate clause."""
    unasserted, elsewhere = _pattern(case.domain, "unasserted"), _pattern(case.domain, "not_of_the_case")
    found = []
    for start, end in body_sentences(step):
        if elsewhere.search(step.text, start, end) or step.text[end - 1] == "?":
            continue
        cuts = [start, *(match.end() for match in _SEGMENT.finditer(step.text, start, end)), end]
        parts = ((a, b) for a, b in pairwise(cuts) if not unasserted.search(step.text, a, b))
        found += [Claim(a, b, (start, end)) for a, b in parts]
    return found


def claimed_terms(case: Case, step: Step, classes: Sequence[SwapClass]) -> list[tuple[TermMatch, Interval]]:
    """Return the terms of some classes in the claims of a step, each with its sentence."""
    return [
        (found, claim.sentence)
        for claim in claims(case, step)
        for swap_class in classes
        for found in swap_class.find(step.text, claim.start, claim.end)
    ]


def occurs_once(case: Case, phrase: str) -> bool:
    """Whether the reference has a phrase exactly once. A second occurrence would reveal a change without the case."""
    return len(list(islice(phrase_pattern(phrase).finditer(case.reference), 2))) == 1


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
