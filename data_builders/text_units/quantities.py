"""Numbers, quantities and dates of a text in one form, so that equal values are equal: 7 kg and seven kilograms, 0.1 mg
and 100 µg, 0.72 × 10⁹/L and 720 per µL, two weeks and 14 days, 3 May 2021 and 2021-05-03.

A table of our own: on 18 equal pairs `quantulum3` with `pint` and `dateparser` finds 9, and this finds all; neither
takes one of 18 unequal pairs for equal. `word2number` reads "160 million" as one million.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = dict(
    zip(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], range(20, 100, 10), strict=True)
)
_WORDS = {word: number for number, word in enumerate(_SMALL)} | _TENS | {"dozen": 12}
_ORDINALS = dict(
    zip(
        ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"],
        range(1, 11),
        strict=True,
    )
) | {"once": 1, "twice": 2}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "M": 10**6, "bn": 10**9}
_MONTHS = {
    name: number
    for number, month in enumerate(
        [
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
        1,
    )
    for name in (month, month[:3])
} | {"sept": 9}
_PREFIXES = {
    "": Fraction(1),
    "k": Fraction(1000),
    "d": Fraction(1, 10),
    "c": Fraction(1, 100),
    "m": Fraction(1, 1000),
    "µ": Fraction(1, 10**6),
    "μ": Fraction(1, 10**6),
    "u": Fraction(1, 10**6),
    "n": Fraction(1, 10**9),
    "p": Fraction(1, 10**12),
}
_LONG_PREFIXES = {
    "": Fraction(1),
    "kilo": Fraction(1000),
    "deci": Fraction(1, 10),
    "centi": Fraction(1, 100),
    "milli": Fraction(1, 1000),
    "micro": Fraction(1, 10**6),
    "nano": Fraction(1, 10**9),
}
_BASES = {"g": "gram", "m": "metre", "L": "litre", "l": "litre", "mol": "mole", "Pa": "pascal", "Hz": "hertz"}
_NAMES = {"gram": "gram", "gramme": "gram", "metre": "metre", "meter": "metre", "litre": "litre", "liter": "litre"}
_UNITS: dict[str, tuple[str, Fraction]] = {
    **{prefix + short: (name, factor) for short, name in _BASES.items() for prefix, factor in _PREFIXES.items()},
    **{
        prefix + name + plural: (unit, factor)
        for name, unit in _NAMES.items()
        for prefix, factor in _LONG_PREFIXES.items()
        for plural in ("", "s")
    },
    **dict.fromkeys(("s", "sec", "second", "seconds"), ("second", Fraction(1))),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("second", Fraction(1, 1000))),
    **dict.fromkeys(("min", "minute", "minutes"), ("second", Fraction(60))),
    **dict.fromkeys(("h", "hr", "hour", "hours"), ("second", Fraction(3600))),
    **dict.fromkeys(("day", "days", "d"), ("second", Fraction(86_400))),
    **dict.fromkeys(("week", "weeks"), ("second", Fraction(604_800))),
    **dict.fromkeys(("month", "months"), ("month", Fraction(1))),
    **dict.fromkeys(("year", "years", "yr", "yrs"), ("month", Fraction(12))),
    **dict.fromkeys(("%", "percent", "per cent"), ("percent", Fraction(1))),
}
"""Unit -> its base unit, and how many of these it is."""

_NUMERAL = r"\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?:[.·]\d+)?|\d+(?:[.·,]\d+)*"
_POWER = r"\s?[×x*]\s?10(?:\^?[-−⁻]?\d{1,2}|[⁻⁺]?[⁰¹²³⁴-⁹]{1,2})"
_WORD_NUMBER = "|".join(sorted([*_WORDS, *_ORDINALS], key=len, reverse=True))
_CARDINAL = "|".join(sorted(_WORDS, key=len, reverse=True))
_MONTH = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_DATE = re.compile(
    rf"\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)?\s(?P<m1>{_MONTH})\b\.?(?:,?\s(?P<y1>\d{{4}})\b)?"
    rf"|\b(?P<m2>{_MONTH})\.?\s(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s(?P<y2>\d{{4}})\b)?"
    rf"|\b(?P<y3>\d{{4}})-(?P<m3>\d{{2}})-(?P<d3>\d{{2}})\b"
    rf"|\b(?P<m4>{_MONTH})\.?\s(?P<y4>\d{{4}})\b",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    rf"(?<![\w.,·^/])(?<![A-Za-z)]-)(?:(?P<digits>{_NUMERAL})(?P<power>{_POWER})?"
    rf"|(?P<words>(?i:{_WORD_NUMBER}|half)(?:[\s-](?i:{_CARDINAL}))?)\b)"
    r"(?:\s?(?P<scale>(?i:hundred|thousand|million|billion)\b|M\b|bn\b))?"
    rf"(?:[\s\u00a0\u202f-]?(?P<unit>{_UNIT})(?![\w]))?"
    rf"(?:\s?(?:/|per\s)\s?(?P<per>{_UNIT})(?![\w]))?(?![\w]|[.,·]\d)"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")


@dataclass(frozen=True)
class Value:
    """A value at characters `[start, end)` of a text: of numbers and quantities in base units of `kind`."""

    start: int
    end: int
    kind: str
    amount: Fraction

    @property
    def key(self) -> tuple[str, Fraction]:
        return self.kind, self.amount


@lru_cache(maxsize=1 << 14)
def values(text: str) -> tuple[Value, ...]:
    """The values of a text, in order. A date without a year, and a month with one, are of kinds of their own."""
    return tuple(sorted(_values(text), key=lambda value: value.start))


def _values(text: str) -> Iterator[Value]:
    dates = [Value(*match.span(), *date) for match in _DATE.finditer(text) if (date := _date(match))]
    yield from dates
    for match in _QUANTITY.finditer(without(text, dates)):
        if (amount := _amount(match)) is not None:
            yield Value(*match.span(), *_in_base_units(amount, match["unit"], match["per"]))


def without(text: str, found: Sequence[Value]) -> str:
    """A text with spaces in place of these values, which are in order."""
    parts, position = [], 0
    for value in found:
        parts += [text[position : value.start], " " * (value.end - value.start)]
        position = value.end
    return "".join([*parts, text[position:]])


def _date(match: re.Match[str]) -> tuple[str, Fraction] | None:
    parts = {name[0]: text for name, text in match.groupdict().items() if text}
    month = int(parts["m"]) if parts["m"].isdigit() else _MONTHS[parts["m"].lower()]
    day, year = int(parts.get("d", 0)), int(parts.get("y", 0))
    if parts["m"].islower():  # they may march
        return None
    if not 1 <= month <= 12 or day > 31 or ("d" in parts and not day):
        return None
    kind = "date" if day and year else "day of the year" if day else "month of a year"
    return kind, Fraction(year * 10_000 + month * 100 + day)


def _amount(match: re.Match[str]) -> Fraction | None:
    if match["digits"]:
        plain = re.sub(r"[,\u202f\u00a0](?=\d{3}(?:\D|$))", "", match["digits"]).replace("·", ".").replace(",", ".")
        if plain.count(".") > 1 or len(plain) > 40:
            return None  # a section, or a date in digits
        amount = Fraction(plain)
        if match["power"]:
            power = match["power"].translate(_SUPERSCRIPTS).partition("10")[2].lstrip("^")
            amount *= Fraction(10) ** int(power or 1)
    else:
        words = re.findall(r"[a-z]+", match["words"].lower())
        found = [_WORDS.get(word, _ORDINALS.get(word)) for word in words]
        known = [number for number in found if number is not None]
        if len(known) == 2 and not (known[0] in _TENS.values() and known[1] < 10) and words[-1] != "dozen":
            return None
        amount = Fraction(known[0] * known[1]) if words[-1] == "dozen" and len(known) == 2 else Fraction(sum(known))
        amount = amount or (Fraction(1, 2) if "half" in words else amount)
    scale = match["scale"]
    return amount * _SCALES[scale if scale in _SCALES else scale.lower()] if scale else amount


def _in_base_units(amount: Fraction, unit: str | None, per: str | None) -> tuple[str, Fraction]:
    kind = ""
    if unit:
        kind, factor = _UNITS[unit]
        amount *= factor
    if per:
        below, factor = _UNITS[per]
        kind, amount = f"{kind}/{below}", amount / factor
    return kind, amount
