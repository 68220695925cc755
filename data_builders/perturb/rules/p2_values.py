"""P2, factual consistency: a number or date in a citation is replaced by another of the same form."""

import re
from datetime import date
from random import Random

from data_builders.perturb.rules.operators import Edit, Interval, Step, operator
from data_builders.perturb.rules.text_match import contains, occurrences, sentences_with, stems
from data_builders.perturb.rules.values import DATE, NUMBERS, YEAR
from data_builders.perturb.rules.word_classes import DAYS, MONTHS, YEARS
from judge_r1.core.records import Case

_CROSS_REFERENCE = re.compile(r"(?:\bparagraphs?|\b[Aa]rticles?|\b[Ss]ections?|\bnos?\.|§)[^.;()]{0,60}$")
_LISTED = re.compile(r"(?:\b(?:and|or|to|until|between)|,|–) $")
"""What a date follows in a list or a period, whose order another date may break."""
SATURDAY, LEAP_YEAR = 5, 2000
_BODY_TEMPERATURES = range(34, 43)
"""In degrees Celsius. Other values stand out in a patient."""


@operator(2, "other_number")
def other_number(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a number by one of the same length and roundness, with the same unit."""
    numbers = [
        (match, cited.fact)
        for cited in step.citations
        for pattern in NUMBERS
        for match in pattern.finditer(step.text, cited.start, cited.end)
    ]
    for match, fact in rng.sample(numbers, len(numbers)):
        span, value, unit = (match.start("value"), match.end()), match["value"], match["unit"].strip(" -")
        old = step.text[slice(*span)]
        if _CROSS_REFERENCE.search(step.text[: span[0]]) or _is_restated(case, old):
            continue
        new = _other_value(value, unit, rng)
        if new is None:
            continue
        phrase = new + match["unit"]
        taken = sentences_with(case.context, stems(phrase)) if unit.isalpha() else contains(case.context, phrase)
        if not taken and not contains(fact.text, new):
            return step.edit(span, phrase, fact.span)
    return None


def _is_restated(case: Case, value: str) -> bool:
    """Whether the reference has a value twice: then its other occurrence contradicts the changed one."""
    return len(occurrences(case.reference, value)) > 1


def _other_value(value: str, unit: str, rng: Random) -> str | None:
    """Draw a number of the same format within a factor of about two."""
    degrees, dot, decimals = value.partition(".")
    if unit == "°C" and degrees.isdigit() and int(degrees) in _BODY_TEMPERATURES:
        return f"{rng.choice([other for other in _BODY_TEMPERATURES if other != int(degrees)])}{dot}{decimals}"
    digits = re.sub(r"\D", "", value)
    number, zeros = int(digits), len(digits) - len(digits.rstrip("0"))
    if number == 0 or digits == "1":
        return None
    step = 10**zeros * (5 if digits.rstrip("0").endswith("5") and len(digits) - zeros > 1 else 1)
    spread = max(2, number // (2 * step))
    new = number + rng.choice((-1, 1)) * step * rng.randint(1, min(spread, 30))
    same_form = len(str(new)) == len(digits.lstrip("0")) and _roundness(new) == _roundness(number)
    if new <= 1 or not same_form or (unit in ("%", "percent", "per") and new > 10 ** (len(digits.split(".")[0]))):
        return None
    new_digits = iter(str(new).zfill(len(digits)))
    text = "".join(next(new_digits) if character.isdigit() else character for character in value)
    return text if unit not in ("%", "percent") or float(text.replace(",", "")) <= 100 else None


def _roundness(number: int) -> tuple[int, bool]:
    """Return the number of trailing zeros, and whether two digits or more, the last one a five, precede them."""
    significant = str(number).rstrip("0")
    return len(str(number)) - len(significant), len(significant) > 1 and significant.endswith("5")


@operator(2, "other_date")
def other_date(case: Case, step: Step, rng: Random) -> Edit | None:
    """Change the day, month or year of a date."""
    dates = [
        (match, cited.fact)
        for cited in step.citations
        for pattern in (DATE, YEAR)
        for match in pattern.finditer(step.text, cited.start, cited.end)
    ]
    for match, fact in rng.sample(dates, len(dates)):
        parts = {name: text for name, text in match.groupdict().items() if text is not None}
        span = match.span() if len(parts) > 1 else match.span("year")
        if _is_restated(case, step.text[slice(*span)]) or _LISTED.search(step.text[: span[0]]):
            continue
        part = rng.choice(sorted(parts))
        new = _other_date(case, step.text, span, match.span(part), part.rstrip("2"), rng)
        if new is not None:
            return step.edit(span, new, fact.span)
    return None


def _other_date(case: Case, text: str, span: Interval, part: Interval, kind: str, rng: Random) -> str | None:
    """Draw a date that differs in one part, keeps the number of digits, and is not in the context."""
    swap_class = {"day": DAYS, "month": MONTHS, "year": YEARS}[kind]
    found = next(iter(swap_class.find(text, *part)), None)
    if found is None:
        return None
    before, after = text[span[0] : part[0]], text[part[1] : span[1]]

    def fits(other: str) -> bool:
        new = before + other + after
        same_form = kind == "month" or len(other) == part[1] - part[0]
        return same_form and _is_like(text[slice(*span)], new) and not contains(case.context, new)

    new = swap_class.swap(found, fits, "", rng)
    return None if new is None else before + new + after


def _is_like(old: str, new: str) -> bool:
    """Whether two dates are in the calendar, unlike `31 June 2003`, and both on a weekend or neither: authorities
    seldom work on Sundays, which would show the changed date."""
    try:
        before, after = _day(old), _day(new)
    except ValueError:
        return False
    return before is None or after is None or (before.weekday() < SATURDAY) == (after.weekday() < SATURDAY)


def _day(text: str) -> date | None:
    """The day that a text names, or None if it names no year.

    Raises:
        ValueError: there is no such day.
    """
    match = DATE.fullmatch(text)
    day = (match["day"] or match["day2"]) if match else None
    if match is None or day is None:
        return None
    month = [term.text for term in MONTHS.terms].index(match["month"] or match["month2"]) + 1
    found = date(int(match["year"] or LEAP_YEAR), month, int(day))
    return found if match["year"] else None
