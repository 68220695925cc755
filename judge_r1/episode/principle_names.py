"""Reads the principles that an answer names, for evaluations: by number, code or name, in a list or a text."""

import re
from typing import Any

from judge_r1.core.principles import NUMBERS, PRINCIPLES

_NAMES = re.compile("|".join(rf"({p.name.replace(' and ', ' (?:and|&) ')})" for p in PRINCIPLES), re.IGNORECASE)
_BREAK = re.compile(r"[,;/|\n&+]|\band\b", re.IGNORECASE)
_NAMED = re.compile(
    r"\W*(?:violated\W+)?(?:principles?\W*)?(?:no\W*)?p?\s*([1-6])(?:\.0)?(?:\W+p?\1)?\W*(?:[:(–—-](?!\s*\d).*)?",
    re.IGNORECASE | re.DOTALL,
)
"""One principle, with its name as a second number, and with what is said of it."""
_FIELDS = ("principle", "number", "id", "principle_number", "name")


def named_principles(value: Any) -> list[int]:
    """The principles in a field of an answer, such as `[2, "P4"]`, `"2. Factual Consistency"`, `"2, 4"` or
    `{"P2": true}`. Parts that name none, or two at once, are left out; None and the like name none."""
    return sorted(set(_numbers(value, 3)))


def _numbers(value: Any, depth: int) -> list[int]:
    if isinstance(value, str):
        numbered = _NAMES.sub(lambda match: f" {match.lastindex} ", value[:300])
        return [int(match[1]) for part in _BREAK.split(numbered) if (match := _NAMED.fullmatch(part))]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [int(value)] if value in NUMBERS else []
    if not depth:
        return []
    if isinstance(value, dict):
        own = [value[field] for field in _FIELDS if field in value]
        value = own[:1] or [key for key, stated in value.items() if stated not in (False, 0, None, "")]
    if isinstance(value, list | tuple):
        return [number for part in value[:100] for number in _numbers(part, depth - 1)]
    return []
