"""Finds the numbers and dates of a text that P2 can change."""

import re

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
