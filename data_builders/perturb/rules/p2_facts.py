"""P2, factual consistency: a value, date, name or finding that the case states is replaced by another of its kind.

The context has the old value beside the words that it qualifies, and no sentence of the context has the new value
beside them. Replacements have the form of the original: as many digits, the same unit, a name of the same case.
"""

import re
from collections.abc import Callable
from functools import partial
from random import Random

from data_builders.perturb.rules.balanced_swap import corpus_name, swap_term
from data_builders.perturb.rules.claims import (
    factual_sentences,
    factual_terms,
    keeps_vocabulary_size,
    numeric_fact_sentences,
    occurrences_near,
    occurs_once,
    with_head_word,
)
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.text_match import contains, content_words, occurrences, sentences_with, stems
from data_builders.perturb.rules.word_classes import ATTRIBUTES, CASE_TERMS, DAYS, DIGITS, MONTHS, YEARS, classes_for
from judge_r1.core.records import Case, Span

_NUMBER = re.compile(
    r"(?<![\w.,§/:^=~-])(?<!§ )(?<!no\. )(?<!nos\. )(?<!Article )(?<!Articles )(?<!paragraph )(?<!paragraphs )"
    r"(?<!Rule )(?<!Section )(?<!Protocol No\. )(?<!Protocol )(?<!Step )(?<!Reference )(?<!pp\. )(?<!p\. )"
    r"(?P<value>\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{1,2})?|\d{5})(?P<unit>[ -]?[%°]|[ -]?[a-zA-Zµ]{1,12}\b)?"
    r"(?![\w/]|[.,:]\d|[-–]\d)"
)
_MONTH = "|".join(term.text for term in MONTHS.terms)
_NOT_UNITS = frozenset([*_MONTH.split("|"), "above", "below"])
_CROSS_REFERENCE = re.compile(r"(?:\bparagraphs?|\b[Aa]rticles?|\b[Ss]ections?|\bnos?\.|§)[^.;()]{0,60}$")
_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}}) )?(?P<month>{_MONTH}) (?P<year>(?:19|20)\d\d)\b"
    rf"|\b(?P<day2>\d{{1,2}}) (?P<month2>{_MONTH})\b"
)
_YEAR = re.compile(r"\b(?:in|since|from|until|by|of|after|before|during|to) (?P<year>(?:19|20)\d\d)\b(?![-–/,.]\d)")
_TITLES = ("Mr", "Mrs", "Ms", "Dr", "Judge", "Professor")
_NAME = re.compile(
    r"\b(?!(?:The|This|That|In|On|At|By|A|An|His|Her|Its|Their|However|Moreover|Both|When|After|Before)\b)"
    rf"(?:(?:{'|'.join(_TITLES)}) [A-ZÀ-Ž][\w.’'-]*(?: [A-ZÀ-Ž][\w’'-]+)?"
    r"|(?:[A-ZÀ-Ž][\w’'-]+ ){1,3}(?:Court|Prison|Hospital|University|Ministry|Committee|Office|Council|Centre|Institute"
    r"|Police|Agency|Commission|Board|Code|Act|Society)|[A-ZÀ-Ž][a-zà-ž]{4,}|[A-ZÀ-Ž]\.[A-ZÀ-Ž]\.)(?![\w-])"
)


@operator(2, "other_number")
def other_number(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a number by one of the same length and roundness, with the same unit."""
    numbers = [m for start, end in numeric_fact_sentences(case, step) for m in _NUMBER.finditer(step.text, start, end)]
    for match in rng.sample(numbers, len(numbers)):
        old, value = match[0], match["value"]
        unit = (match["unit"] or "").strip(" -")
        if not (unit or len(value) > 1) or unit in _NOT_UNITS or not occurs_once(case, old):
            continue
        if _CROSS_REFERENCE.search(step.text[: match.start()]):
            continue
        spans = occurrences(case.context, old)
        new = _other_value(value, case, rng)
        if spans and new is not None and keeps_vocabulary_size(case, value, new):
            phrase = new + (match["unit"] or "")
            taken = sentences_with(case.context, stems(phrase)) if unit.isalpha() else contains(case.context, new)
            if not taken:
                return step.edit(match.span(), phrase, *spans)
    return None


def _other_value(value: str, case: Case, rng: Random) -> str | None:
    """Draw a number of the same format.

    Small numbers are more frequent (Benford's law). A number is therefore accepted with probability
    min(1, old / new), which makes a swap as likely as its reverse.
    """
    digits = re.sub(r"\D", "", value)
    if len(digits) == 1:
        found = next(DIGITS.find(digits, 0, 1), None)
        return DIGITS.swap(found, corpus_name(case), lambda other: True, "", rng) if found else None
    number, zeros = int(digits), len(digits) - len(digits.rstrip("0"))
    unit = 10**zeros * (5 if digits.rstrip("0").endswith("5") and len(digits) - zeros > 1 else 1)
    new = number + rng.choice((-1, 1)) * unit * rng.randint(1, max(2, 15 * 10 ** (len(digits) - 2) // unit))
    if new <= 0 or len(str(new)) != len(digits.lstrip("0")) or _roundness(new) != _roundness(number):
        return None
    new_digits = iter(str(new).zfill(len(digits)))
    return "".join(next(new_digits) if character.isdigit() else character for character in value)


def _roundness(number: int) -> tuple[int, bool]:
    """Return the number of trailing zeros, and whether a five precedes them."""
    text = str(number)
    return len(text) - len(text.rstrip("0")), text.rstrip("0").endswith("5")


@operator(2, "other_date")
def other_date(case: Case, step: Step, rng: Random) -> Edit | None:
    """Change the day, month or year of a date that the case states."""
    dates = [
        match
        for start, end in numeric_fact_sentences(case, step)
        for pattern in (_DATE, _YEAR)
        for match in pattern.finditer(step.text, start, end)
    ]
    for match in rng.sample(dates, len(dates)):
        parts = {name: text for name, text in match.groupdict().items() if text is not None}
        old = match[0] if len(parts) > 1 else match["year"]
        if not occurs_once(case, old) or not (spans := occurrences(case.context, old)):
            continue
        part = rng.choice(sorted(parts))
        swap_class = {"day": DAYS, "month": MONTHS, "year": YEARS}[part.rstrip("2")]
        found = next(swap_class.find(step.text, *match.span(part)), None)
        if found is None:
            continue
        start, end = match.span() if len(parts) > 1 else match.span("year")
        before, after = step.text[start : found.start], step.text[found.end : end]
        digits = None if swap_class is MONTHS else len(match[part])
        fits = partial(_is_other_date, case, found.term.text, before, after, digits)
        new = swap_class.swap(found, corpus_name(case), fits, "", rng)
        if new is not None:
            return step.edit((start, end), before + new + after, *spans)
    return None


def _is_other_date(case: Case, old: str, before: str, after: str, digits: int | None, part: str) -> bool:
    """Whether the context lacks the date `before + part + after`. A day or year keeps its number of digits."""
    same_form = digits in (None, len(part)) and keeps_vocabulary_size(case, old, part)
    return same_form and not contains(case.context, before + part + after)


@operator(2, "other_name")
def other_name(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a person, place or institution by another one of the case that does not have its role."""
    sentences = factual_sentences(case, step)
    for start, end in rng.sample(sentences, len(sentences)):
        names = [m for m in _NAME.finditer(step.text, start, end) if m.start() > start and occurs_once(case, m[0])]
        sentence = set(content_words(step.text[start:end]))
        for match in rng.sample(names, len(names)):
            role = _find_role(case, match[0], sentence)
            if role is None:
                continue
            lacks_role, spans = role
            if others := [other for other in _names_of_same_kind(case.context, match[0]) if lacks_role(other)]:
                return step.edit(match.span(), rng.choice(others), *spans)
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


@operator(2, "other_item")
def other_item(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a test, drug, tool, person and so on by another one of the case that does not have its role."""
    terms = factual_terms(case, step, classes_for(case.domain, CASE_TERMS))
    for found, (start, end) in rng.sample(terms, len(terms)):
        role = _find_role(case, step.text[found.start : found.end], set(content_words(step.text[start:end])))
        if role is None:
            continue
        lacks_role, spans = role
        if (new := swap_term(found, case, step.text, lacks_role, rng)) is not None:
            return step.edit((found.start, found.end), new, *spans)
    return None


def _find_role(case: Case, old: str, sentence: set[str]) -> tuple[Callable[[str], bool], list[Span]] | None:
    """Find where the context says of `old` what the `sentence` says of it.

    Returns a test whether another thing of the case lacks this role, and the occurrences of `old`. None if the
    context never has `old` beside two other words of the sentence.
    """
    own = stems(old)
    support = [s for s in sentences_with(case.context, own) if len(s.stems & (sentence - own)) >= 2]
    spans = [x for x in occurrences(case.context, old) for s in support if s.start <= x.start < s.end]
    if not spans:
        return None
    most = max(len(s.stems & (sentence - own)) for s in support)

    def lacks_role(other: str) -> bool:
        name = stems(other)
        mentions = sentences_with(case.context, name)
        return (
            keeps_vocabulary_size(case, old, other)
            and contains(case.context, other)
            and not (name - own) & sentence
            and not any(name <= s.stems for s in support)
            and all(2 * len(s.stems & (sentence - own)) < most + 2 for s in mentions)
        )

    return lacks_role, spans


@operator(2, "other_finding")
def other_finding(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace an attribute that the case states (degree, side, order, outcome and so on) by its opposite or another."""
    terms = factual_terms(case, step, classes_for(case.domain, ATTRIBUTES))
    for found, sentence in rng.sample(terms, len(terms)):
        phrase = with_head_word(step.text, found.start, found.end, sentence)
        if phrase is None:
            continue
        start, end = phrase
        old = step.text[found.start : found.end]
        role = (stems(step.text[start:end]) - stems(old)) & set(content_words(step.text[start:end]))
        spans = occurrences_near(case.context, old, role) if role else []
        if not spans:
            continue

        def fits(other: str, old: str = old, role: set[str] = role) -> bool:
            return keeps_vocabulary_size(case, old, other) and not sentences_with(case.context, stems(other) | role)

        if (new := swap_term(found, case, step.text, fits, rng)) is not None:
            return step.edit(phrase, step.text[start : found.start] + new + step.text[found.end : end], *spans)
    return None
