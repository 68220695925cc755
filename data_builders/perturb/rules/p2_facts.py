"""P2, factual consistency: a name, thing or attribute that the case states is replaced by another of its kind.

The context has the old value beside an anchor (see `evidence`), and nowhere the new value beside it.
"""

import re
from collections.abc import Callable
from functools import partial
from random import Random

from data_builders.perturb.rules.case_peers import peers
from data_builders.perturb.rules.claims import claimed_terms, claims
from data_builders.perturb.rules.evidence import Evidence, find_evidence, is_denied, is_restated
from data_builders.perturb.rules.operators import Edit, Interval, Step, operator
from data_builders.perturb.rules.templates import word_counts
from data_builders.perturb.rules.text_match import WORD, contains, stems
from data_builders.perturb.rules.word_classes import ATTRIBUTES, CASE_TERMS, Classes, classes_for
from data_builders.perturb.rules.word_swap import swap_term
from judge_r1.core.records import Case

_TITLES = ("Mr", "Mrs", "Ms", "Dr", "Judge", "Professor")
_NAME = re.compile(
    r"\b(?!(?:The|This|That|In|On|At|By|A|An|His|Her|Its|Their|However|Moreover|Both|When|After|Before)\b)"
    rf"(?:(?:{'|'.join(_TITLES)}) [A-ZÀ-Ž][\w.’'-]*(?: [A-ZÀ-Ž][\w’'-]+)?"
    r"|(?:[A-ZÀ-Ž][\w’'-]+ ){1,3}(?:Court|Prison|Hospital|University|Ministry|Committee|Office|Council|Centre|Institute"
    r"|Police|Agency|Commission|Board|Code|Act|Society)|[A-ZÀ-Ž][a-zà-ž]{4,}|[A-ZÀ-Ž]\.[A-ZÀ-Ž]\.)(?![\w-])"
)

_UNITS = ("hour", "day", "week", "month", "year")
_COUNT = re.compile(r"[\w.-]+\s+$")
_BEFORE_AMOUNT = re.compile(r"\s+(?:\(|(?:of )?\d)")
NO_NEW_WORDS = 0.5
"""The share of the draws that bring no word which the reference lacks, unless they take one away."""


def _names_value(case: Case, step: Step, value: Interval, sentence: Interval) -> Evidence | None:
    """Return the evidence for a value that the reference states only here."""
    evidence = find_evidence(case, step.text, value, sentence)
    old = step.text[value[0] : value[1]]
    restated = evidence is not None and is_restated(case, evidence, old, step.start + value[0])
    return None if restated else evidence


def _fits(case: Case, evidence: Evidence, old: str, sentence: str) -> Callable[[str], bool]:
    """Return a test whether a new value is denied by the context and does not stand in the sentence already."""
    beside = stems(sentence) - stems(old)
    return lambda new: not (stems(new) - stems(old)) & beside and is_denied(case, evidence, old, new)


def _both(one: Callable[[str], bool], other: Callable[[str], bool]) -> Callable[[str], bool]:
    return lambda text: one(text) and other(text)


@operator(2, "other_name")
def other_name(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a person, place or institution by another one of the case."""
    names = [
        (match, claim.sentence)
        for claim in claims(case, step)
        for match in _NAME.finditer(step.text, claim.start, claim.end)
        if match.start() > claim.sentence[0] and not step.text.startswith(" of ", match.end())
    ]
    for match, sentence in rng.sample(names, len(names)):
        evidence = _names_value(case, step, match.span(), sentence)
        if evidence is not None:
            fits = _fits(case, evidence, match[0], step.text[sentence[0] : sentence[1]])
            if others := [other for other in _names_of_same_kind(case.context, match[0]) if fits(other)]:
                return step.edit(match.span(), rng.choice(others), *evidence.spans)
    return None


def _names_of_same_kind(context: str, name: str) -> list[str]:
    """Return the other names of the context with the same title or the same last word."""
    kind = _name_kind(name)
    found = dict.fromkeys(match[0] for match in _NAME.finditer(context))
    return [other for other in found if kind and _name_kind(other) == kind and other != name]


def _name_kind(name: str) -> str:
    first, last = name.split()[0], name.split()[-1]
    if first in _TITLES:
        return first
    if re.fullmatch(r"[^\W\d_]\.[^\W\d_]\.", name):
        return "initials"
    return last if len(name.split()) > 1 else ""


def _register_terms(name: str, by_domain: dict[str, Classes], *, of_case: bool) -> None:
    @operator(2, name)
    def other_term(case: Case, step: Step, rng: Random) -> Edit | None:
        in_reference, reference_words = partial(contains, case.reference), word_counts(case.reference)
        terms = claimed_terms(case, step, classes_for(case.domain, by_domain))
        is_short = rng.random() < NO_NEW_WORDS
        for found, sentence in rng.sample(terms, len(terms)):
            old = step.text[found.start : found.end]
            if of_case and _BEFORE_AMOUNT.match(step.text, found.end):
                continue
            count = _COUNT.search(step.text[sentence[0] : found.start]) if found.term.text in _UNITS else None
            value = (sentence[0] + count.start() if count else found.start, found.end)
            evidence = _names_value(case, step, value, sentence)
            if evidence is None:
                continue
            is_other = _fits(case, evidence, old, step.text[sentence[0] : sentence[1]])
            if is_short and reference_words[old.lower()] > 1:
                is_other = _both(in_reference, is_other)
            fits = _both(partial(contains, case.context), is_other) if of_case else is_other
            new = swap_term(found, step.text, fits, rng, in_reference)
            if new is not None:
                return step.edit((found.start, found.end), new, *evidence.spans)
        return None


_register_terms("other_item", CASE_TERMS, of_case=True)
_register_terms("other_finding", ATTRIBUTES, of_case=False)


@operator(2, "other_peer")
def other_peer(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a word by one that the case lists beside it: `kidney and liver` makes them of one kind."""
    kinds = peers(case.context)
    words = [
        (match, claim.sentence)
        for claim in claims(case, step)
        for match in WORD.finditer(step.text, claim.start, claim.end)
        if match[0] in kinds and step.text[match.end() : match.end() + 1] != "-"
    ]
    for match, sentence in rng.sample(words, len(words)):
        evidence = _names_value(case, step, match.span(), sentence)
        if evidence is not None:
            fits = _fits(case, evidence, match[0], step.text[sentence[0] : sentence[1]])
            if others := [other for other in kinds[match[0]] if fits(other)]:
                return step.edit(match.span(), rng.choice(others), *evidence.spans)
    return None
