"""Finds the principles that a text names."""

import re
from collections.abc import Sequence

from judge_r1.core.principles import PRINCIPLES
from judge_r1.episode.prompts import principles

_CODE = re.compile(r"\bP\s?([1-6])\b")
_LISTED = re.compile(
    r"\bprinciples?\s*(?:no\.?\s*|number\s*|#\s*)?((?:P?[1-6]\b(?:\s*(?:,|and|&|or)\s*)*)+)", re.IGNORECASE
)
_CLOSING = re.compile(r"[a-z]\s+([1-6])\W*$")
_NAMES = [
    (p.number, re.compile(r"\b" + re.escape(p.name).replace(r"\ and\ ", r"\s*(?:and|&)\s*") + r"\b", re.I))
    for p in PRINCIPLES
]


def named_principles(blocks: Sequence[str], style: str) -> frozenset[int]:
    """The principles named in the blocks of a reasoning: by code (P2), by number (principle 2; principles 2 and 4) or
    by full name ("Factual Consistency", any case).

    In a prompt style that lists the principles by bare numbers (`compact`), a number after a word at the end of a
    block ("differs 2") also counts.
    """
    found: set[int] = set()
    bare = PRINCIPLES[0].name not in principles(style)
    for block in blocks:
        found |= {int(number) for number in _CODE.findall(block)}
        found |= {int(n) for listed in _LISTED.findall(block) for n in re.findall("[1-6]", listed)}
        found |= {number for number, name in _NAMES if name.search(block)}
        if bare and (closing := _CLOSING.search(block)):
            found.add(int(closing[1]))
    return frozenset(found)
