"""P2, factual consistency: a citation contradicts the case: it has another name, thing or attribute, or is denied.

The context nowhere has the new value beside the words of the citation (`pair_checks`).
"""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from random import Random

from data_builders.perturb.rules.citations import Citation
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.premises import denied_clause
from data_builders.perturb.rules.text_match import changed, contains, stems
from data_builders.perturb.rules.word_classes import ATTRIBUTES, CASE_TERMS, Classes, classes_for
from data_builders.perturb.rules.word_swap import TermMatch, swap_term
from judge_r1.core.records import Case

SAME_NAME = 0.8
"""How much the words of two spellings of a name have in common: twice the shared characters by all."""
_TITLES = ("Mr", "Mrs", "Ms", "Dr", "Judge", "Professor")
NAME = re.compile(
    r"\b(?!(?:The|This|That|In|On|At|By|A|An|His|Her|Its|Their|However|Moreover|Both|When|After|Before)\b)"
    rf"(?:(?:{'|'.join(_TITLES)}) (?:(?:[A-ZÀ-Ž]\.)+|[A-ZÀ-Ž][\w’'-]*)(?: [A-ZÀ-Ž][\w’'-]+)?"
    r"|(?:[A-ZÀ-Ž][\w’'-]+ ){1,3}(?:Court|Prison|Hospital|University|Ministry|Committee|Office|Council|Centre|Institute"
    r"|Police|Agency|Commission|Board|Code|Act|Society)|[A-ZÀ-Ž][a-zà-ž]{4,}|[A-ZÀ-Ž]\.[A-ZÀ-Ž]\.)(?![\w-])"
)
_BEFORE_AMOUNT = re.compile(r"\s+(?:\(|(?:of )?\d)")
_COORDINATED = re.compile(r"\b(?:and|or) $"), re.compile(r" (?:and|or)\b")
_EITHER_ORDER = re.compile(
    r", |,? ?(?:/|(?:and/or|and also|and|or|to|nor|versus|plus|as well as|together with|along with)\b)"
    r"(?: (?:in|on|of|at))?(?: the)? ?"
    r"|(?:, [\w-]+(?: [\w-]+)?)+,? (?:(?:and|or) )?"
)
"""What stands between two values that contradict nothing in the other order (left and right) or read badly (3 to 5)."""
_DENIED = re.compile(r"\b(?:no|not|any|never|without|other)\b[^.;,]{0,25}$|\bevery (?:\S+ )?$", re.IGNORECASE)
"""What an attribute of one kind follows only: no abnormal uptake, every 12 hours."""
_DEFINED = re.compile(r"\s+(?:is|are)\b")
_FROM = re.compile(r"[^.;,]{0,40}\bfrom\b")
_REPEATED = re.compile(r"\b(\w+)(?: and| or|,) \1\b", re.IGNORECASE)
_KIN = re.compile(
    r"(?:grand|step)?(?:mother|father)|son|daughter|brother|sister|husband|wife|male|female|boy|girl|m[ae]n|wom[ae]n"
)
_GENDERED = re.compile(r"\b(?:he|she|his|her|him|hers|himself|herself)\b", re.IGNORECASE)
_LIFE = re.compile(r"\b(?:born|lives?|aged|died)\b")
"""What cannot be denied of a person: "was not born in 1957"."""


@operator(2, "other_name")
def other_name(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a person or institution by another one of the case."""
    names = [
        (match, cited)
        for cited in step.citations
        for match in NAME.finditer(step.text, cited.start, cited.end)
        if match.start() > cited.start and not step.text.startswith(" of ", match.end())
    ]
    for match, cited in rng.sample(names, len(names)):
        others = [name for name in _names_of_same_kind(case.context, match[0]) if name not in cited.fact.text]
        if others:
            return step.edit(match.span(), rng.choice(others), cited.fact.span)
    return None


def _names_of_same_kind(context: str, name: str) -> list[str]:
    """Return the other names of the context with the same title or the same last word."""
    kind = name_kind(name)
    found = dict.fromkeys(match[0] for match in NAME.finditer(context))
    return [other for other in found if kind and name_kind(other) == kind and not _is_spelling(name, other)]


def _is_spelling(name: str, other: str) -> bool:
    """Whether two names may be spellings of one, or one is fuller: Białystok and Bialystok, Mr Lis and Mr Jan Lis."""
    shorter, longer = sorted((name.split(), other.split()), key=len)
    return all(any(SequenceMatcher(None, one, two).ratio() >= SAME_NAME for two in longer) for one in shorter)


def name_kind(name: str) -> str:
    first, last = name.split()[0], name.split()[-1]
    if first in _TITLES:
        return first
    if re.fullmatch(r"[^\W\d_]\.[^\W\d_]\.", name):
        return "initials"
    return last if len(name.split()) > 1 else ""


def _terms(step: Step, classes: Classes) -> Iterator[tuple[TermMatch, Citation]]:
    for cited in step.citations:
        for swap_class in classes:
            for found in swap_class.find(step.text, cited.start, cited.end):
                yield found, cited


def _is_bound(text: str, cited: Citation, found: TermMatch, *, of_case: bool) -> bool:
    """Whether the sentence itself would show that a term was exchanged.

    A thing of the case (`of_case`) has an amount behind it, or is defined. An attribute stands beside another one
    ("left and right"), occurs twice, is denied, is a verb with "from", or tells the sex of a person whom a pronoun of
    the sentence names.
    """
    if of_case:
        return any(pattern.match(text, found.end) for pattern in (_BEFORE_AMOUNT, _DEFINED))
    stated = text[cited.start : cited.end]
    word = re.escape(text[found.start : found.end])
    return (
        _COORDINATED[0].search(text[cited.start : found.start]) is not None
        or _DENIED.search(text[cited.start : found.start]) is not None
        or (found.term.text.endswith("ed") and _FROM.match(text, found.end) is not None)
        or _COORDINATED[1].match(text[found.end : cited.end]) is not None
        or len(re.findall(rf"\b{word}\b", stated, re.IGNORECASE)) > 1
        or (_KIN.fullmatch(found.term.text) is not None and _GENDERED.search(stated) is not None)
    )


def _register_terms(name: str, by_domain: dict[str, Classes], *, of_case: bool) -> None:
    @operator(2, name)
    def other_term(case: Case, step: Step, rng: Random) -> Edit | None:
        terms = list(_terms(step, classes_for(case.domain, by_domain)))
        for found, cited in rng.sample(terms, len(terms)):
            if _is_bound(step.text, cited, found, of_case=of_case):
                continue
            known = stems(cited.fact.text)

            def fits(new: str, known: set[str] = known) -> bool:
                return not stems(new) <= known and (not of_case or contains(case.context, new))

            new = swap_term(found, step.text, fits, rng)
            if new is not None:
                return step.edit((found.start, found.end), new, cited.fact.span)
        return None


_register_terms("other_item", CASE_TERMS, of_case=True)
_register_terms("other_finding", ATTRIBUTES, of_case=False)


@operator(2, "exchanged")
def exchanged(case: Case, step: Step, rng: Random) -> Edit | None:
    """Let two values of one kind change places in a citation."""
    terms = list(_terms(step, (*classes_for(case.domain, ATTRIBUTES), *classes_for(case.domain, CASE_TERMS))))
    twins = [
        (one, other, cited)
        for one, cited in terms
        for other, other_cited in terms
        if one.end < other.start
        and cited is other_cited
        and one.swap_class is other.swap_class
        and one.plural == other.plural
        and one.term != other.term
    ]
    for one, other, cited in rng.sample(twins, len(twins)):
        first, second = step.text[one.start : one.end], step.text[other.start : other.end]
        between = step.text[one.end : other.start]
        if _EITHER_ORDER.fullmatch(between) or first[0].isupper() != second[0].isupper():
            continue
        new = second + between + first
        changed_text = step.text[cited.start : one.start] + new + step.text[other.end : cited.end]
        articles = re.search(r"\ban? $", step.text[: one.start]) or re.search(r"\ban? $", between)
        if not articles and not _REPEATED.search(changed_text):
            return step.edit((one.start, other.end), new, cited.fact.span)
    return None


@operator(2, "denied")
def denied(case: Case, step: Step, rng: Random) -> Edit | None:
    """Negate the main verb of a citation, or remove its `not`."""
    for cited in rng.sample(step.citations, len(step.citations)):
        old = cited.fact.text
        new = denied_clause(old.rstrip(".")) if not _LIFE.search(old) else None
        if new is not None:
            start, old_end, new_end = changed(old, new + old[len(old.rstrip(".")) :])
            return step.edit((cited.start + start, cited.start + old_end), new[start:new_end], cited.fact.span)
    return None
