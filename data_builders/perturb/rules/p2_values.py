"""P2, factual consistency: a number, count or date that the case states is replaced by another of the same form."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from random import Random

from data_builders.perturb.rules.operators import operator, sentence_around, supporting_span
from data_builders.text_units.edits import Edit
from data_builders.text_units.steps import Step
from data_builders.text_units.text_match import contains, numbers, occurrences
from judge_r1.core.records import Case

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_UNITS = (
    r"(?:mg|g|kg|µg|mcg|ng|pg|mm|cm|m|km|ml|mL|dl|dL|l|L|mmHg|mmol|µmol|nmol|pmol|mol|mEq|IU|U|kDa|bp|kb|nm|µm|ms|s|h"
    r"|min|Hz|kHz|Gy|MHz|GHz|K|kcal|kPa|µl|µL|mM|µM|nM|MB|GB|mV|rpm)(?![A-Za-z])"
    r"(?:/(?:kg|mg|g|ml|mL|dl|dL|l|L|µl|µL|mm|cm|s|h|hr|min|day|week|year|dose)(?![A-Za-z]))*"
)
_NOT_NOUNS = (
    r"(?:and|or|of|in|to|the|is|was|were|are|at|on|by|for|with|from|a|an|that|as|but|if|when|which|above|below|per|p"
    rf"|{'|'.join(MONTHS)}|to|not|had|has|have|it)\b"
)
NUMBER = re.compile(
    r"(?<![\w.,§/:^=~<>≥≤–-])(?<!§ )(?<!no\. )(?<!nos\. )(?<!Article )(?<!Articles )(?<!paragraph )(?<!paragraphs )"
    r"(?<!Rule )(?<!Section )(?<!section )(?<!Protocol No\. )(?<!Protocol )(?<!Step )(?<!Reference )(?<!pp\. )(?<!p\. )"
    r"(?<!Fig )(?<!Fig\. )(?<!Figure )(?<!Figures )(?<!Table )(?<!Grade )(?<!grade )(?<!type )(?<!Type )(?<!Annex )"
    r"(?P<value>\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{1,2})?|(?!(?:19|20)\d\d )\d{4,5}(?= [a-z]))"
    rf"(?P<unit>[ -]?%|[ -]?°C?|[ -]?{_UNITS}|[ -](?!{_NOT_NOUNS})[a-z][a-zA-Z]{{1,13}}\b(?!\.[a-z]))"
    r"(?![\w/]|[.,:]\d|[-–]\d)"
)
"""A number with its unit or the noun that it counts."""
_MONTH = "|".join(MONTHS)
DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}}) )?(?P<month>{_MONTH}) (?P<year>(?:19|20)\d\d)\b"
    rf"|\b(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}}), (?P<year2>(?:19|20)\d\d)\b"
    r"|(?<=\b[Ii]n )(?P<year3>(?:19|20)\d\d)\b(?![-–/,.]\d)"
)
OPEN = re.compile(
    r"\b(?:should|must|shall|would|could|might|please|recommend\w*|suggest(?:ed)? (?:that|to)|if|unless|whether"
    r"|e\.g|i\.e|for example)\b|\?$",
    re.IGNORECASE,
)
"""Sentences that state no fact of the case: advice, conditions, questions."""
_CROSS_REFERENCE = re.compile(
    r"(?:\b[Pp]aragraphs?|\b[Aa]rticles?|\b[Ss]ections?|\b[Cc]omments?|\bnos?\.|§)[^.;()]{0,60}$"
)
_AMOUNT = r"(?:\d[^\s,;]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_BOUNDED = (
    re.compile(
        rf"\b(?:to|from|between|out of|than|above|below|over|under|least|{_AMOUNT} (?:of|of the|and|or)) $", re.I
    ),
    re.compile(rf"(?:[ %\w°/-]{{0,12}} (?:to|of|or|out of)| and) (?:the )?{_AMOUNT}\b", re.I),
)
"""What stands before or after a number that another one of the sentence bounds: 6 to 10 points, 9 of 51."""
_LISTED = re.compile(r"(?:\b(?:and|or|to|until|between)|–) $")
"""What a date follows in a period, whose order another date may break."""
LEAST, LEAST_OF_A_RARE_VALUE = 2, 1
"""The words that the sentence of the case shares with that of the reference. Longer values are rare."""
LOW, HIGH, CLOSE = 0.55, 1.7, 0.12
"""A number changes by a factor within these bounds, and by at least the share `CLOSE`."""
TRIES = 100
"""Numbers that are drawn before a place is given up."""


@operator(2, "other_number")
def other_number(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Replace a number by another one of the same form that the case does not have."""
    numbers = list(NUMBER.finditer(step.text))
    for match in numbers:
        at, value, unit = match.span(), match["value"], match["unit"].strip(" -")
        if _is_bound(step, *at) or OPEN.search(sentence_around(step, at[0])):
            continue
        stated = value if len(value) > 1 else match[0]
        if len(occurrences(case.reference, stated)) > 1 or contains(case.decision, stated):
            continue
        least = LEAST_OF_A_RARE_VALUE if len(re.sub(r"\D", "", value)) > 2 else LEAST
        span = supporting_span(case, step, at, match[0], least)
        new = _other_value(case, value, unit, [other for other in numbers if other is not match], rng) if span else None
        if new and span:
            yield step.edit(at, new + match["unit"], span)


def _is_bound(step: Step, start: int, end: int) -> bool:
    before = step.text[:start]
    return any((_CROSS_REFERENCE.search(before), _BOUNDED[0].search(before), _BOUNDED[1].match(step.text, end)))


def _other_value(case: Case, value: str, unit: str, others: list[re.Match[str]], rng: Random) -> str | None:
    """Draw a number of the same digits and roundness, neither in the case nor in the reference.

    It stays above and below the same numbers of its unit in the step.
    """
    digits = re.sub(r"\D", "", value)
    number, zeros = int(digits), len(digits) - len(digits.rstrip("0"))
    if number < 2:
        return None
    is_temperature = unit.startswith("°") and 36 <= _size(value) <= 42
    low, high = (36.0, 41.0) if is_temperature else (_size(value) * LOW, _size(value) * HIGH)
    least = max(1, CLOSE * number) if unit[:1] != "°" else 1
    compared = [_size(other["value"]) for other in others if other["unit"].strip(" -") == unit]
    # Doses and ages come in steps: 325 mg becomes 275 mg, not 232 mg.
    coarse = 25 if number >= 100 and number % 25 == 0 else 5 if number > 10 and number % 5 == 0 else 1
    round_to = max(coarse, 10**zeros)
    first = max(2, int(number * LOW)) // round_to * round_to
    possible = range(first, int(number * HIGH) + 2, round_to)
    for candidate in rng.sample(possible, min(len(possible), TRIES)):
        text = str(candidate)
        if len(text) != len(digits.lstrip("0")) or candidate % (10 * round_to) == 0 or abs(candidate - number) < least:
            continue
        rest = iter(text.zfill(len(digits)))
        new = "".join(next(rest) if character.isdigit() else character for character in value)
        size = _size(new)
        if (
            low <= size <= high
            and not (unit in ("%", "percent") and size > 100)
            and all((size > other) == (_size(value) > other) and size != other for other in compared)
            and not any(_has(text, new, unit) for text in (case.context, case.reference))
        ):
            return new
    return None


def _has(text: str, value: str, unit: str) -> bool:
    """Whether a text has the number: of one digit with this unit, else with any."""
    return value in numbers(text) if len(value) > 1 else contains(text, f"{value} {unit}")


def _size(value: str) -> float:
    return float(value.replace(",", ""))


@operator(2, "other_count")
def other_count(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Replace a count in words, as in `three operations`, by another one."""
    for match in re.finditer(rf"\b({'|'.join(COUNTS)})([ -](?!of\b|or\b|and\b|to\b)[a-z]{{3,}})", step.text):
        at, noun = match.span(1), match[2].strip(" -")
        if _is_bound(step, *at) or OPEN.search(sentence_around(step, at[0])) or not noun.endswith(("s", "fold", "en")):
            continue
        if len(occurrences(case.reference, match[1])) > 1:
            continue
        span, index = supporting_span(case, step, at, match[0], LEAST), COUNTS.index(match[1])
        near = [other for other in COUNTS[max(0, index - 2) : index + 4] if other != match[1]]
        free = [
            other
            for other in near
            if not any(
                contains(text, phrase)
                for text in (case.context, case.reference)
                for phrase in (f"{other} {noun}", f"{COUNTS.index(other) + 2} {noun}")
            )
        ]
        if free and span:
            yield step.edit(at, rng.choice(free), span)


@operator(2, "other_date")
def other_date(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Change the day, month or year of a date, which stays before and after the same dates of the reference."""
    for match in DATE.finditer(step.text):
        at, old = match.span(), match[0]
        if _LISTED.search(step.text[: at[0]]) or _is_bound(step, *at) or len(occurrences(case.reference, old)) > 1:
            continue
        span = supporting_span(case, step, at, old, LEAST)
        new = [
            other
            for other in _other_dates(match)
            if not contains(case.context, other) and _keeps_order(case.reference, old, other)
        ]
        if span and new:
            yield step.edit(at, rng.choice(new), span)


def _other_dates(match: re.Match[str]) -> Iterator[str]:
    """The valid dates of the same form that differ in one part."""
    for name, part in match.groupdict().items():
        kind = name.rstrip("23")
        if part is None:
            continue
        if kind == "month":
            others = [month for month in MONTHS if month != part]
        elif kind == "year":
            others = [str(int(part) + change) for change in (-3, -2, -1, 1, 2, 3)]
        else:
            others = [str(day) for day in range(1, 32) if abs(day - int(part)) > 1 and len(str(day)) == len(part)]
        start, end = (position - match.start() for position in match.span(name))
        for other in others:
            text = match[0][:start] + other + match[0][end:]
            if _days(text):
                yield text


def _keeps_order(reference: str, old: str, new: str) -> bool:
    before, after = _days(old), _days(new)
    assert before
    assert after
    others = [days for text, days in _dates(reference) if text != old]
    return all(_order(before, other) == _order(after, other) and after != other for other in others)


@lru_cache(maxsize=4)
def _dates(text: str) -> list[tuple[str, tuple[date, date]]]:
    """The dates of a text that the calendar has."""
    return [(match[0], days) for match in DATE.finditer(text) if (days := _days(match[0]))]


def _order(one: tuple[date, date], other: tuple[date, date]) -> int:
    """-1 if one period ends before the other begins, 1 if it begins after the other's end, else 0."""
    return (one[0] > other[1]) - (one[1] < other[0])


def _days(text: str) -> tuple[date, date] | None:
    """The first and the last day of a date, a month or a year, or None if the calendar has no such day."""
    match = DATE.fullmatch(text)
    parts = {name.rstrip("23"): part for name, part in match.groupdict().items() if part} if match else {"year": text}
    year = int(parts["year"])
    if "month" not in parts:
        return date(year, 1, 1), date(year, 12, 31)
    month = MONTHS.index(parts["month"]) + 1
    days = monthrange(year, month)[1]
    first, last = (int(parts["day"]),) * 2 if "day" in parts else (1, days)
    return (date(year, month, first), date(year, month, last)) if 1 <= first <= last <= days else None
