"""Which sentences of a step state facts of the case, so that the case can deny (P2) or not know (P4) what they say.

Advice, questions, wishes and what a court or a reviewer says in general are left alone: a change there is no claim
about the case.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache, partial
from random import Random

from data_builders.perturb.rules.operators import Step
from data_builders.perturb.rules.steps import body_sentences
from data_builders.perturb.rules.text_match import content_words, holding, occurrences, stem, vocabulary, words
from judge_r1.core.records import Case, Span

_GENERAL = {
    "legal": re.compile(r"\b(reiterates?|recalls?|cited above|case-law|see, |mutatis|v\. |ECHR [12]|Series A)"),
    "academic": re.compile(
        r"\?|10\.\d{4}/|https?:|\b(should|please|suggest\w*|recommend\w*|perhaps|consider|need to|need|needs"
        r"|I wonder|hope|add|include|whether)\b",
        re.IGNORECASE,
    ),
}
_CITATION = re.compile(r"10\.\d{4}/|https?:|\bet al\b|\bvol\b|\bdoi\b|F1000")
_NEVER = re.compile(r"(?!)")


def claims(case: Case, step: Step) -> list[tuple[int, int]]:
    """Spans, in the step's text, of the sentences that state facts of the case."""
    general = _GENERAL.get(case.domain, _NEVER)
    return [(start, end) for start, end in body_sentences(step) if not general.search(step.text, start, end)]


def stated(case: Case, step: Step) -> list[tuple[int, int]]:
    """The same for numbers and dates: advice names those of the case too, so only citations are left out."""
    general = _CITATION if case.domain == "academic" else _GENERAL.get(case.domain, _NEVER)
    return [(start, end) for start, end in body_sentences(step) if not general.search(step.text, start, end)]


def once(case: Case, phrase: str) -> bool:
    """Whether the reference has the phrase one time only: a second one would betray a change without the case."""
    return len(occurrences(case.reference, phrase)) == 1


def traceless(case: Case, old: str, new: str) -> bool:
    """Whether the flawed text will have as many different words as the reference: as many appear as vanish.

    Otherwise a reader who never sees the case finds the flaw by counting: where a term is replaced in one place and
    stays in others, the flawed text has a word more. The rule allows a swap in both directions or in neither.
    """
    return all(
        sum(count[word] == 1 for word in out - come) == sum(count[word] == 0 for word in come - out)
        for count, out, come in zip(_counts(case.reference), _forms(old), _forms(new), strict=True)
    )


@lru_cache(maxsize=8)
def _counts(text: str) -> tuple[Counter[str], Counter[str]]:
    """How often a text has each word, as it is written and without its ending."""
    found = words(text)
    return Counter(found), Counter(map(stem, found))


@lru_cache(maxsize=65_536)
def _forms(phrase: str) -> tuple[frozenset[str], frozenset[str]]:
    found = words(phrase)
    return frozenset(found), frozenset(map(stem, found))


def unmentioned(case: Case) -> Callable[[str], bool]:
    """A test for phrases of which neither the context nor the reference has a single content word."""
    return partial(_unmentioned, f"{case.context}\n\n{case.reference}")


def _unmentioned(text: str, phrase: str) -> bool:
    return not any(stem(word) in vocabulary(text) or _within(text, word) for word in content_words(phrase))


def _within(text: str, word: str) -> bool:
    """Whether a long word is part of another one: `cystic` is mentioned by `polycystic`."""
    return len(word) > 5 and word in _lower(text)


@lru_cache(maxsize=8)
def _lower(text: str) -> str:
    return text.lower()


def anchor(text: str, start: int, end: int, limit: tuple[int, int]) -> tuple[int, int] | None:
    """The content word that `text[start:end]` qualifies: one of the next three words, else the one before it."""
    after = re.match(r"(?:[ -]+[\w'’-]+){1,3}", text[end : limit[1]])
    if after:
        for word in re.finditer(r"[\w'’-]+", after[0]):
            if len(word[0]) > 3 and content_words(word[0]):
                return start, end + word.end()
    before = re.search(r"([\w'’-]{4,})[ -]+$", text[limit[0] : start])
    return (limit[0] + before.start(), end) if before and content_words(before[1]) else None


def evidence(context: str, old: str, role: set[str], distance: int = 80) -> list[Span]:
    """Places of the phrase `old` in the context that have all the words of `role` close by, in the same sentence."""
    spans = []
    sentences = holding(context, {*map(stem, words(old)), *role})
    for span in occurrences(context, old):
        for sentence in sentences:
            if sentence.start <= span.start and span.end <= sentence.end:
                first, last = max(sentence.start, span.start - distance), min(sentence.end, span.end + distance)
                if role <= {stem(word) for word in words(context[first:last])}:
                    spans.append(span)
    return spans


def shuffled(items: list[tuple[int, int]], rng: Random) -> list[tuple[int, int]]:
    return rng.sample(items, len(items))
