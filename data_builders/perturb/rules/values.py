"""Finds the numbers and dates of a text that P2 can change."""

import re

from data_builders.perturb.rules.word_classes import MONTHS

_UNITS = (
    r"(?:mg|g|kg|µg|mcg|ng|pg|mm|cm|m|km|ml|mL|dl|dL|l|L|mmHg|mmol|µmol|nmol|pmol|mol|mEq|IU|U|kDa|bp|kb|nm|µm|ms|s|h"
    r"|min|Hz|kHz|Gy|MHz|GHz|K|kcal|kPa|µl|µL|mM|µM|nM|MB|GB|mV|rpm)(?![A-Za-z])"
    r"(?:/(?:kg|mg|g|ml|mL|dl|dL|l|L|µl|µL|mm|cm|s|h|hr|min|day|week|year|dose)(?![A-Za-z]))*"
)
_NOT_NOUNS = (
    r"(?:and|or|of|in|to|the|is|was|were|are|at|on|by|for|with|from|a|an|that|as|but|if|when|which|above|below|per|p"
    r"|January|February|March|April|May|June|July|August|September|October|November|December|to|not|had|has|have|it)\b"
)
_NUMBER = re.compile(
    r"(?<![\w.,§/:^=~<>≥≤–-])(?<!§ )(?<!no\. )(?<!nos\. )(?<!Article )(?<!Articles )(?<!paragraph )(?<!paragraphs )"
    r"(?<!Rule )(?<!Section )(?<!section )(?<!Protocol No\. )(?<!Protocol )(?<!Step )(?<!Reference )(?<!pp\. )(?<!p\. )"
    r"(?<!Fig )(?<!Fig\. )(?<!Figure )(?<!Figures )(?<!Table )(?<!Grade )(?<!grade )(?<!type )(?<!Type )(?<!Annex )"
    r"(?P<value>\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d{1,2})?|(?!(?:19|20)\d\d )\d{4,5}(?= [a-z]))"
    rf"(?P<unit>[ -]?%|[ -]?°C?|[ -]?{_UNITS}|[ -](?!{_NOT_NOUNS})[a-z][a-zA-Z]{{1,13}}\b(?!\.[a-z]))"
    r"(?![\w/]|[.,:]\d|[-–]\d)"
)
_BARE_NUMBER = re.compile(
    r"\b(?:was|were|is|are|to|of|score|about|approximately|average|mean) "
    r"(?P<value>\d{1,3}(?:,\d{3})+|\d{1,2}\.\d{1,3}|(?!19\d\d|20\d\d)\d{2,4})(?P<unit>)"
    r"(?=[.;)](?!\d)|,? (?:and|with|in|for|compared|versus)\b)"
)
"""A value without a unit: a score of 2.59, was 3,218."""
_MONTH = "|".join(MONTHS.words)
DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}}) )?(?P<month>{_MONTH}) (?P<year>(?:19|20)\d\d)\b"
    rf"|\b(?P<day2>\d{{1,2}}) (?P<month2>{_MONTH})\b"
    rf"|\b(?P<month3>{_MONTH}) (?P<day3>\d{{1,2}}), (?P<year3>(?:19|20)\d\d)\b"
)
YEAR = re.compile(
    r"\b(?:[Ii]n|[Ss]ince|[Ff]rom|[Uu]ntil|[Bb]y|of|[Aa]fter|[Bb]efore|during|to) (?P<year>(?:19|20)\d\d)\b"
    r"(?![-–/,.]\d)"
)
NUMBERS = (_NUMBER, _BARE_NUMBER)
"""Patterns with the groups `value` and `unit`."""


def has_value(text: str) -> bool:
    """Whether a text has a number or date that P2 can change."""
    return any(pattern.search(text) for pattern in (*NUMBERS, DATE, YEAR))
