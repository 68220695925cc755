"""Defines operators: named functions that break one principle in one step of a reference reasoning.

An operator takes a case and a step and yields the edits that break the step, none if it has no natural place there.
Operators are pure functions of their arguments: all randomness comes from the `Random` that they receive.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from data_builders.text_units.clauses import ACTION_VERBS, FINITE, is_balanced
from data_builders.text_units.edits import Edit, Interval
from data_builders.text_units.steps import Step, body_sentences, sentences
from data_builders.text_units.text_match import content_words, occurrences, sentence_index
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, Span

OperatorFunction = Callable[[Case, Step, Random], Iterator[Edit]]


@dataclass(frozen=True)
class Operator:
    name: str
    principle: int
    apply: OperatorFunction


OPERATORS: dict[str, list[Operator]] = defaultdict(list)
"""Operators by rule set: `text` for natural prose, `mini` and `haystack` for the toy worlds."""


def operator(principle: int, name: str, *, rule_set: str = "text") -> Callable[[OperatorFunction], OperatorFunction]:
    """Register a function as operator `name` of a rule set."""

    def register(function: OperatorFunction) -> OperatorFunction:
        OPERATORS[rule_set].append(Operator(name, principle, function))
        return function

    return register


def seeded_random(case: Case, seed: int, *parts: str | int) -> Random:
    """Return a generator that depends on case, seed and parts only."""
    return Random(int(content_hash(case.case_id, seed, *parts), 16))


MIN_WORDS, MAX_WORDS = 7, 34
"""Words of a statement that takes one more clause."""
_CLOSED = re.compile(
    r"[)\]”\"’\d]\.$|\b(?:if|unless|although|though|because|since|while|whereas|which|who|given)\b[^,;]*\.$"
    r"|\b(?:etc|al)\.$",
)
"""Ends that a further clause would be misread with."""
_LINKS = (
    r"(?:It|This|These|Those|That|They|Their|Its|Such|Both|Here|There|Then|However|But|Nevertheless|Moreover|Therefore"
    r"|Furthermore|Also|Notably|Additionally|Interestingly|Importantly|Besides|Meanwhile|Of note|Thus|Hence|Accordingly"
    r"|Consequently|Otherwise|Instead|Similarly|Likewise|Similar|So|And|Or|Yet|Nor|Neither|Indeed|Another|Others?|As|Some"
    r"|For (?:example|instance|this|that)|Again|Even|Finally|Secondly?|Thirdly?|Rather|Still|Subsequently|Thereafter"
    r"|In (?:addition|particular|this|that|such|these|contrast)|On the (?:other|same|contrary))\b"
)
"""The openings of sentences that need the sentence before."""
_DEPENDENT = re.compile(
    rf"[\"'“‘(\[*]*(?:{_LINKS}|(?:He|She|His|Her|The (?:latter|former|same|other|second))\b"
    r"|(?:\w+,? ){1,5}(?:this|these|those|such)\b"
    r"(?! (?:a |an |as |cases?|court|convention|patient|study|paper|article|manuscript)\b))"
)
"""A sentence that needs the one before it."""


def statements(step: Step) -> Iterator[Interval]:
    """Yield the statements of a step, or their last clauses, that take one more clause before their full stop.

    They are complete, neither short nor long, end in no clause that would claim the addition, and no sentence of the
    step leans on them.
    """
    for sentence, end in body_sentences(step, MIN_WORDS):
        start = max(sentence, step.text.rfind("; ", sentence, end) + 2)
        text = step.text[start:end]
        if (
            MIN_WORDS <= len(text.split()) <= MAX_WORDS
            and text[-1] == "."
            and step.text[sentence].isupper()
            and not re.search(r"[:?“\"]|\.\s", text)
            and is_balanced(step.text[sentence:end])
            and FINITE.search(text)
            and text.split(" ", 1)[0].lower() not in ACTION_VERBS
            and not _CLOSED.search(text)
            and not is_leaned_on(step, end)
        ):
            yield start, end


def is_leaned_on(step: Step, end: int) -> bool:
    """Whether the sentence behind the character needs the one before it."""
    return _DEPENDENT.match((step.text[end:] + step.following).lstrip()) is not None


def sentence_around(step: Step, position: int) -> str:
    """The sentence of the step that has the character."""
    return next((step.text[a:b] for a, b in sentences(step.text) if a <= position < b), step.text)


def supporting_span(case: Case, step: Step, at: Interval, phrase: str, least: int) -> Span | None:
    """Where the case states `phrase` in a sentence that shares `least` other content words with the sentence at `at`.

    Of several places, the one whose sentence shares the most words.
    """
    named = set(content_words(sentence_around(step, at[0]))) - set(content_words(phrase))
    best: tuple[int, Span] | None = None
    for found in occurrences(case.context, phrase):
        around = next((s for s in sentence_index(case.context) if s.start <= found.start < s.end), None)
        shared = len(named & around.stems) if around else 0
        if shared >= least and (best is None or shared > best[0]):
            best = shared, found
    return best[1] if best else None
