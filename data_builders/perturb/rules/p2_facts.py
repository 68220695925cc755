"""P2, factual consistency: a citation contradicts the case: it has another name or attribute.

The context nowhere has the new value beside the words of the citation (`pair_checks`).
"""

import re
from collections import Counter
from difflib import SequenceMatcher
from random import Random

from data_builders.perturb.rules.citations import Citation
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.p2_values import RANGE
from data_builders.perturb.rules.text_match import contains, occurrences, stem, stems, words
from data_builders.perturb.rules.word_classes import ATTRIBUTES, OPPOSITES, Classes, classes_of
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
_POSSESSIVE = re.compile("['’]s$")
_COORDINATED = re.compile(r"\b(?:and|or) $"), re.compile(r" (?:and|or)\b")
_DENIED = re.compile(r"\b(?:no|not|any|never|without|other)\b[^.;,]{0,25}$|\bevery (?:\S+ )?$", re.IGNORECASE)
"""Words after which an attribute stays: no upper limit, every 12 hours."""
_KIN = re.compile(r"(?:grand)?(?:mother|father)|son|daughter|brother|sister|uncle|aunt")
_GENDERED = re.compile(r"\b(?:s?he|his|hers?|him|himself|herself|boys?|girls?|m[ae]n|wom[ae]n)\b", re.IGNORECASE)


@operator(2, "other_name")
def other_name(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a person or institution by another one of the case. The reference names neither elsewhere."""
    names = [
        (match, cited)
        for cited in step.citations
        for match in NAME.finditer(step.text, cited.start, cited.end)
        if match.start() > cited.start
        and not step.text.startswith(" of ", match.end())
        and not _POSSESSIVE.search(match[0])
    ]
    for match, cited in rng.sample(names, len(names)):
        others = [
            name
            for name in _names_of_same_kind(case.context, match[0])
            if not contains(case.reference, _telling_part(name))
        ]
        if others and len(occurrences(case.reference, _telling_part(match[0]))) == 1:
            return step.edit(match.span(), rng.choice(others), cited.fact.span)
    return None


def _names_of_same_kind(context: str, name: str) -> list[str]:
    """Return the other names of the context with the same title or the same last word."""
    kind = name_kind(name)
    found = dict.fromkeys(_POSSESSIVE.sub("", match[0]) for match in NAME.finditer(context))
    return [other for other in found if kind and name_kind(other) == kind and not _is_spelling(name, other)]


def _telling_part(name: str) -> str:
    """The surname of a person with a title, or the whole name."""
    return name.split()[-1] if name.split()[0] in _TITLES else name


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


@operator(2, "other_attribute")
def other_attribute(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace an attribute by an equally plausible one of its class: left by right, three by four, mother by father.

    Except for amounts, the reference has no other word of the class: another sentence would show which is right.
    """
    return _exchange(case, step, classes_of(case.domain, ATTRIBUTES), rng)


@operator(2, "opposite_attribute")
def opposite_attribute(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace an attribute by another of its class, such as high by low, where the text may show which is right."""
    return _exchange(case, step, classes_of(case.domain, OPPOSITES), rng)


def _exchange(case: Case, step: Step, classes: Classes, rng: Random) -> Edit | None:
    found = [
        (match, cited)
        for cited in step.citations
        for swap_class in classes
        for match in swap_class.find(step.text, cited.start, cited.end)
        if not _is_bound(step.text, cited, match) and _is_alone(case.reference, match)
    ]
    for match, cited in rng.sample(found, len(found)):
        known = stems(cited.fact.text)

        def fits(new: str, known: set[str] = known) -> bool:
            return not stems(new) <= known

        new = swap_term(match, step.text, fits, rng)
        if new is not None:
            return step.edit((match.start, match.end), new, cited.fact.span)
    return None


def _is_alone(reference: str, found: TermMatch) -> bool:
    """Whether the reference has no other word of the class. Amounts are exempt: four weeks do not deny three days."""
    if found.swap_class.max_distance is not None:
        return True
    stated = Counter(map(stem, words(reference)))
    return stated[stem(found.word.lower())] == 1 and not any(
        stated[stem(other.lower())] for other in found.swap_class.near(found.word)
    )


def _is_bound(text: str, cited: Citation, found: TermMatch) -> bool:
    """Whether the sentence itself would show that an attribute was exchanged.

    It stands beside another one ("left and right"), occurs twice, follows "no" or "every", is bounded by another
    amount, or tells the sex of a person in a step with a pronoun.
    """
    stated = text[cited.start : cited.end]
    word = re.escape(text[found.start : found.end])
    return (
        _COORDINATED[0].search(text[cited.start : found.start]) is not None
        or _DENIED.search(text[cited.start : found.start]) is not None
        or _COORDINATED[1].match(text[found.end : cited.end]) is not None
        or len(re.findall(rf"\b{word}\b", stated, re.IGNORECASE)) > 1
        or RANGE[0].search(text[: found.start]) is not None
        or RANGE[1].match(text, found.end) is not None
        or (_KIN.fullmatch(found.word) is not None and _GENDERED.search(text) is not None)
    )
