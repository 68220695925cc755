"""Compares a text with its source: numbers, quotations and runs of words."""

import re
from collections.abc import Iterator

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|\.\d+")
_LATEX_SPACING = re.compile(r"(?<=\d)(?:\{,\}|\\,|\\;|\\ |~|\u202f|\u00a0|,)(?=\d{3}(?!\d))")
_QUOTATION = re.compile(r'"([^"\n]+)"|“([^”\n]+)”')
_WORD = re.compile(r"[^\W_]+")


def numbers(text: str) -> list[str]:
    """The numbers of a text in order, normalised: `1,250` and LaTeX's `1{,}250` are 1250, `.50` is 0.5."""
    return [_plain(match[0]) for match in _NUMBER.finditer(_LATEX_SPACING.sub("", text))]


def missing_numbers(text: str, source: str) -> list[str]:
    """The distinct numbers of `text` that `source` does not have. Digits separated by commas in the source, such as
    `[1,234]`, count as one number and as several."""
    known = set(numbers(source)) | {_plain(match[0]) for match in re.finditer(r"\d+(?:\.\d+)?", source)}
    return [number for number in dict.fromkeys(numbers(text)) if number not in known]


def _plain(number: str) -> str:
    whole, _, fraction = number.replace(",", "").partition(".")
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    return f"{whole}.{fraction}" if fraction else whole


def quotations(text: str) -> list[str]:
    """The texts between double quotation marks, straight or typographic, that are closed on the same line."""
    found = []
    for line in text.split("\n"):
        closed = line.rfind("”") + 1  # a search from every mark after it would take quadratic time
        marked = line[:closed] + line[closed:].replace("“", " ")
        found += [line[slice(*match.span(match.lastindex or 0))] for match in _QUOTATION.finditer(marked)]
    return found


def quoted_from(quotation: str, source: str) -> bool:
    """Whether the source has the words of a quotation in this order, ignoring case and punctuation."""
    return f" {' '.join(_words(quotation))} " in f" {' '.join(_words(source))} "


def runs(text: str, length: int) -> set[str]:
    """Every run of `length` words."""
    found = list(_words(text))
    return {" ".join(found[start : start + length]) for start in range(len(found) - length + 1)}


def _words(text: str) -> Iterator[str]:
    return (match[0].lower() for match in _WORD.finditer(text))
