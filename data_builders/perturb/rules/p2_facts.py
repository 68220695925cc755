"""P2, factual consistency: a value, date, name or finding that the case states is replaced by another of its kind.

The old value stands in the context beside the words it qualifies there; no sentence of the context has the new one
beside them. Replacements look like what they replace: as many digits, the same unit, a name of the same case.
"""

import re
from collections.abc import Callable
from functools import partial
from random import Random

from data_builders.perturb.lexicons import attributes
from data_builders.perturb.lexicons.terms import OTHERS_OF_THE_CASE
from data_builders.perturb.rules.balanced_swap import corpus, in_case_of
from data_builders.perturb.rules.claims import anchor, claims, evidence, once, shuffled, stated, traceless
from data_builders.perturb.rules.operators import Edit, Step, operator
from data_builders.perturb.rules.text_match import content_words, holding, occurrences, says, stem, words
from judge_r1.core.records import Case, Span

_NUMBER = re.compile(
    r"(?<![\w.,§/:^=~-])(?<!§ )(?<!no\. )(?<!nos\. )(?<!Article )(?<!Articles )(?<!paragraph )(?<!paragraphs )"
    r"(?<!Rule )(?<!Section )(?<!Protocol No\. )(?<!Protocol )(?<!Step )(?<!Reference )(?<!pp\. )(?<!p\. )"
    r"(?P<value>\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{1,2})?|\d{5})(?P<unit>[ -]?[%°]|[ -]?[a-zA-Zµ]{1,12}\b)?"
    r"(?![\w/]|[.,:]\d|[-–]\d)"
)
_MONTH = "|".join(term.text for term in attributes.MONTHS.terms)
_NO_UNIT = frozenset([*_MONTH.split("|"), "above", "below"])
_CROSS_REFERENCE = re.compile(r"(?:\bparagraphs?|\b[Aa]rticles?|\b[Ss]ections?|\bnos?\.|§)[^.;()]{0,60}$")
_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}}) )?(?P<month>{_MONTH}) (?P<year>(?:19|20)\d\d)\b"
    rf"|\b(?P<day2>\d{{1,2}}) (?P<month2>{_MONTH})\b"
)
_YEAR = re.compile(r"\b(?:in|since|from|until|by|of|after|before|during|to) (?P<year>(?:19|20)\d\d)\b(?![-–/,.]\d)")
_NAME = re.compile(
    r"\b(?!(?:The|This|That|In|On|At|By|A|An|His|Her|Its|Their|However|Moreover|Both|When|After|Before)\b)"
    r"(?:(?:Mr|Mrs|Ms|Dr|Judge|Professor) [A-ZÀ-Ž][\w.’'-]*(?: [A-ZÀ-Ž][\w’'-]+)?"
    r"|(?:[A-ZÀ-Ž][\w’'-]+ ){1,3}(?:Court|Prison|Hospital|University|Ministry|Committee|Office|Council|Centre|Institute"
    r"|Police|Agency|Commission|Board|Code|Act|Society)|[A-ZÀ-Ž][a-zà-ž]{4,}|[A-ZÀ-Ž]\.[A-ZÀ-Ž]\.)(?![\w-])"
)


@operator(2, "other_number")
def other_number(case: Case, step: Step, rng: Random) -> Edit | None:
    """Another number of the same length and roundness, with the same unit."""
    places = [m for start, end in stated(case, step) for m in _NUMBER.finditer(step.text, start, end)]
    for match in rng.sample(places, len(places)):
        old, value = match[0], match["value"]
        unit = (match["unit"] or "").strip(" -")
        if not (unit or len(value) > 1) or unit in _NO_UNIT or not once(case, old):
            continue
        if _CROSS_REFERENCE.search(step.text[: match.start()]):
            continue
        spans = occurrences(case.context, old)
        new = _other_value(value, case, rng)
        if spans and new is not None and traceless(case, value, new):
            phrase = new + (match["unit"] or "")
            taken = holding(case.context, map(stem, words(phrase))) if unit.isalpha() else says(case.context, new)
            if not taken:
                return step.edit(match.span(), phrase, *spans)
    return None


def _other_value(value: str, case: Case, rng: Random) -> str | None:
    """A number of the same format. Small numbers are the more frequent ones (Benford), so one is accepted with
    probability min(1, old / new): the step there is as likely as the step back."""
    digits = re.sub(r"\D", "", value)
    if len(digits) == 1:
        found = next(attributes.DIGITS.find(digits, 0, 1), None)
        return attributes.DIGITS.swap(found, corpus(case), lambda other: True, "", rng) if found else None
    number, zeros = int(digits), len(digits) - len(digits.rstrip("0"))
    step = 10**zeros * (5 if digits.rstrip("0").endswith("5") and len(digits) - zeros > 1 else 1)
    new = number + rng.choice((-1, 1)) * step * rng.randint(1, max(2, 15 * 10 ** (len(digits) - 2) // step))
    if new <= 0 or len(str(new)) != len(digits.lstrip("0")) or _shape(new) != _shape(number):
        return None
    if rng.random() * new >= number:
        return None
    places = iter(str(new).zfill(len(digits)))
    return "".join(next(places) if character.isdigit() else character for character in value)


def _shape(number: int) -> tuple[int, bool]:
    """How round a number is: its closing zeros, and whether a five stands before them."""
    text = str(number)
    return len(text) - len(text.rstrip("0")), text.rstrip("0").endswith("5")


@operator(2, "other_date")
def other_date(case: Case, step: Step, rng: Random) -> Edit | None:
    """Another day, month or year in a date that the case states."""
    places = [m for start, end in stated(case, step) for p in (_DATE, _YEAR) for m in p.finditer(step.text, start, end)]
    for match in rng.sample(places, len(places)):
        parts = {name: text for name, text in match.groupdict().items() if text is not None}
        old = match[0] if len(parts) > 1 else match["year"]
        if not once(case, old) or not (spans := occurrences(case.context, old)):
            continue
        part = rng.choice(sorted(parts))
        klass = {"day": attributes.DAYS, "month": attributes.MONTHS, "year": attributes.YEARS}[part.rstrip("2")]
        found = next(klass.find(step.text, *match.span(part)), None)
        if found is None:
            continue
        start, end = match.span() if len(parts) > 1 else match.span("year")
        before, after = step.text[start : found.start], step.text[found.end : end]
        digits = None if klass is attributes.MONTHS else len(match[part])
        fits = partial(_another_date, case, found.term.text, before, after, digits)
        new = klass.swap(found, corpus(case), fits, "", rng)
        if new is not None:
            return step.edit((start, end), before + new + after, *spans)
    return None


def _another_date(case: Case, old: str, before: str, after: str, digits: int | None, part: str) -> bool:
    """Whether the context lacks the date with this part in the middle; a day or year keeps its number of digits."""
    kept = digits in (None, len(part)) and traceless(case, old, part)
    return kept and not says(case.context, before + part + after)


@operator(2, "other_name")
def other_name(case: Case, step: Step, rng: Random) -> Edit | None:
    """Another person, place or institution of the same case, in a role that the case gives to the first."""
    for start, end in shuffled(claims(case, step), rng):
        names = [m for m in _NAME.finditer(step.text, start, end) if m.start() > start and once(case, m[0])]
        here = set(content_words(step.text[start:end]))
        for match in rng.sample(names, len(names)):
            fits = _role(case, match[0], here)
            others = [other for other in _same_kind(case.context, match[0]) if fits and fits[0](other)]
            if fits and others:
                return step.edit(match.span(), rng.choice(others), *fits[1])
    return None


def _same_kind(context: str, name: str) -> list[str]:
    """Names of the context with the same title or the same last word."""
    kind = _kind(name)
    found = dict.fromkeys(match[0] for match in _NAME.finditer(context))
    return [other for other in found if kind and _kind(other) == kind and other != name]


def _kind(name: str) -> str:
    first, last = name.split()[0], name.split()[-1]
    if first in ("Mr", "Mrs", "Ms", "Dr", "Judge", "Professor"):
        return first
    if re.fullmatch(r"[^\W\d_]\.[^\W\d_]\.", name):
        return "initials"
    return last if len(name.split()) > 1 else ""


@operator(2, "other_item")
def other_item(case: Case, step: Step, rng: Random) -> Edit | None:
    """Another test, drug, tool, person … of the same case, of which the case does not say this."""
    classes = OTHERS_OF_THE_CASE.get(case.domain) or tuple(c for cs in OTHERS_OF_THE_CASE.values() for c in cs)
    places = [
        (found, limit)
        for limit in claims(case, step)
        for klass in classes
        for found in klass.find(step.text, limit[0], limit[1])
    ]
    for found, limit in rng.sample(places, len(places)):
        old, here = step.text[found.start : found.end], set(content_words(step.text[limit[0] : limit[1]]))
        fits = _role(case, old, here)
        if fits is None:
            continue
        new = found.klass.swap(found, corpus(case), fits[0], step.text[: found.start], rng)
        if new is not None:
            return step.edit((found.start, found.end), in_case_of(new, found, step.text), *fits[1])
    return None


def _role(case: Case, old: str, here: set[str]) -> tuple[Callable[[str], bool], list[Span]] | None:
    """What the context tells of `old` in the words `here`, and which other things it does not tell it of."""
    own = set(map(stem, words(old)))
    told = [s for s in holding(case.context, own) if len(s.words & (here - own)) >= 2]
    spans = [x for x in occurrences(case.context, old) for s in told if s.start <= x.start < s.end]
    if not spans:
        return None
    most = max(len(s.words & (here - own)) for s in told)

    def fits(other: str) -> bool:
        name = set(map(stem, words(other)))
        rivals = holding(case.context, name)
        return (
            traceless(case, old, other)
            and says(case.context, other)
            and not (name - own) & here
            and not any(name <= s.words for s in told)
            and all(2 * len(s.words & (here - own)) < most + 2 for s in rivals)
        )

    return fits, spans


@operator(2, "other_finding")
def other_finding(case: Case, step: Step, rng: Random) -> Edit | None:
    """The opposite or another degree, side, order, outcome … of something that the case states."""
    classes = attributes.ATTRIBUTES.get(case.domain) or tuple(c for cs in attributes.ATTRIBUTES.values() for c in cs)
    places = [
        (found, limit)
        for limit in claims(case, step)
        for klass in classes
        for found in klass.find(step.text, limit[0], limit[1])
    ]
    for found, limit in rng.sample(places, len(places)):
        span = anchor(step.text, found.start, found.end, limit)
        if span is None:
            continue
        old = step.text[found.start : found.end]
        role = {stem(w) for w in words(step.text[span[0] : span[1]])} - set(map(stem, words(old)))
        role &= set(content_words(step.text[span[0] : span[1]]))
        spans = evidence(case.context, old, role) if role else []
        if not spans:
            continue

        def fits(other: str, old: str = old, role: set[str] = role) -> bool:
            return traceless(case, old, other) and not holding(case.context, {*map(stem, words(other)), *role})

        new = found.klass.swap(found, corpus(case), fits, step.text[: found.start], rng)
        if new is not None:
            new = in_case_of(new, found, step.text)
            text = step.text[span[0] : found.start] + new + step.text[found.end : span[1]]
            return step.edit(span, text, *spans)
    return None
