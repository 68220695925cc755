"""P2, factual consistency: a number or date in a citation is replaced by a close one of the same form."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from random import Random

from data_builders.perturb.rules.operators import Edit, Interval, Step, operator
from data_builders.perturb.rules.text_match import contains, occurrences, sentences_with, stems
from data_builders.perturb.rules.values import DATE, NUMBERS, YEAR
from data_builders.perturb.rules.word_classes import DAYS, MONTHS, YEARS
from judge_r1.core.records import Case

_CROSS_REFERENCE = re.compile(r"(?:\b[Pp]aragraphs?|\b[Aa]rticles?|\b[Ss]ections?|\bnos?\.|§)[^.;()]{0,60}$")
_LISTED = re.compile(r"(?:\b(?:and|or|to|until|between)|,|–) $")
"""What a date follows in a list or a period, whose order another date may break."""
_AMOUNT = r"(?:\d[^\s,;]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
RANGE = (
    re.compile(rf"\b(?:to|from|between|out of|{_AMOUNT} (?:of|of the|and|or)) $", re.IGNORECASE),
    re.compile(rf"(?:[ %\w°/-]{{0,12}} (?:to|of|or|out of)| and) (?:the )?{_AMOUNT}\b", re.IGNORECASE),
)
"""What stands before or after a number that another one of the sentence bounds: 6 to 10 points, 9 of 51."""
SATURDAY, LEAP_YEAR = 5, 2000
_BODY_TEMPERATURES, MOST_DEGREES = range(34, 43), 2
"""In degrees Celsius. Other values, and greater changes, stand out in a patient."""
CLOSE = 5
"""A number changes by at most a fifth of it, or else to the next numbers of its form (4 to 6, 50 to 60, 25 to 35): a
reader who knows typical values would find a greater change."""


@operator(2, "other_number")
def other_number(case: Case, step: Step, rng: Random) -> Edit | None:
    """Replace a number by a close one of the same length and roundness, with the same unit."""
    numbers = [
        (match, cited.fact)
        for cited in step.citations
        for pattern in NUMBERS
        for match in pattern.finditer(step.text, cited.start, cited.end)
    ]
    for match, fact in rng.sample(numbers, len(numbers)):
        span, value, unit = (match.start("value"), match.end()), match["value"], match["unit"].strip(" -")
        old = step.text[slice(*span)]
        before, after = step.text[: span[0]], step.text[span[1] :]
        if _CROSS_REFERENCE.search(before) or RANGE[0].search(before) or RANGE[1].match(after):
            continue
        if _is_restated(case, value if len(value) > 1 else old):
            continue
        new = _other_value(value, unit, rng)
        if new is None or (len(new) > 1 and contains(case.reference, new)):
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
    """Draw a close number of the same format."""
    degrees, dot, decimals = value.partition(".")
    if unit == "°C" and degrees.isdigit() and int(degrees) in _BODY_TEMPERATURES:
        near = [other for other in _BODY_TEMPERATURES if 0 < abs(other - int(degrees)) <= MOST_DEGREES]
        return f"{rng.choice(near)}{dot}{decimals}"
    digits = re.sub(r"\D", "", value)
    number, zeros = int(digits), len(digits) - len(digits.rstrip("0"))
    if number == 0 or digits == "1":
        return None
    significant = str(number).rstrip("0")
    step = 10**zeros * (5 if significant.endswith("5") and len(significant) > 1 else 1)
    spread = max(1 if zeros else 2, number // (CLOSE * step))
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
        new = _other_date(case, step.text, span, match.span(part), part.rstrip("23"), rng)
        if new is not None and _keeps_order(case.reference, match[0], match[0].replace(step.text[slice(*span)], new)):
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
    before, after = _days_of(old), _days_of(new)
    if before is None or after is None:
        return False
    is_day = before[0] == before[1] and re.search(r"\d{4}", old) is not None
    return not is_day or (before[0].weekday() < SATURDAY) == (after[0].weekday() < SATURDAY)


def _keeps_order(reference: str, old: str, new: str) -> bool:
    """Whether a new date is before and after the same dates of the reference as the old one, and not among them.

    Of two dates, one without a year is read as of the year of the other.
    """
    skipped = False
    for text in _dates(reference):
        if text == old and not skipped:
            skipped = True
            continue
        other = _days_of(text, _year_of(old))
        before, after = _days_of(old, _year_of(text)), _days_of(new, _year_of(text))
        if other is None or before is None or after is None:
            continue
        if _order(before, other) != _order(after, other) or after == other:
            return False
    return True


def _year_of(text: str) -> int:
    stated = re.search(r"\d{4}", text)
    return int(stated[0]) if stated else LEAP_YEAR


def _dates(text: str) -> Iterator[str]:
    for pattern in (DATE, YEAR):
        yield from (match[0] for match in pattern.finditer(text))


def _order(one: tuple[date, date], other: tuple[date, date]) -> int:
    """-1 if one period ends before the other begins, 1 if it begins after the other's end, else 0."""
    return (one[0] > other[1]) - (one[1] < other[0])


def _days_of(text: str, year: int = LEAP_YEAR) -> tuple[date, date] | None:
    """Return the first and the last day of a date, month or year, or None if the calendar has no such day."""
    match = DATE.fullmatch(text)
    if match is None:
        [stated] = re.findall(r"\d{4}", text)
        return date(int(stated), 1, 1), date(int(stated), 12, 31)
    parts = {name.rstrip("23"): part for name, part in match.groupdict().items() if part is not None}
    year, month = int(parts.get("year", year)), MONTHS.words.index(parts["month"]) + 1
    days = monthrange(year, month)[1]
    if "day" not in parts:
        return date(year, month, 1), date(year, month, days)
    if not 1 <= int(parts["day"]) <= days:
        return None
    return (date(year, month, int(parts["day"])),) * 2
