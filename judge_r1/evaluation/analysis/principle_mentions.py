"""Finds mentions of the six principles in a judge's reasoning."""

import re
from collections.abc import Sequence

from judge_r1.core.principles import PRINCIPLES
from judge_r1.episode.prompts import principles

# "P2"
_CODE = re.compile(r"\bP\s?([1-6])\b")
# "principle 2", "principle no. 2", "principles 2, 4 and P5"
_NUMBERED = re.compile(
    r"\bprinciples?\s*(?:no\.?\s*|number\s*|#\s*)?((?:P?[1-6]\b(?:\s*(?:,|and|&|or)\s*)*)+)", re.IGNORECASE
)
# A number after a word at the end of a block: "the dates differ 2."
_TRAILING = re.compile(r"[a-z]\s+([1-6])\W*$")
# "Factual Consistency", with "&" or "and" where a name has "and"
_NAMES = [
    (p.number, re.compile(r"\b" + re.escape(p.name).replace(r"\ and\ ", r"\s*(?:and|&)\s*") + r"\b", re.I))
    for p in PRINCIPLES
]


def named_principles(blocks: Sequence[str], style: str) -> frozenset[int]:
    """The numbers (1-6) of the principles that a reasoning mentions.

    `blocks` are the text blocks of the reasoning and `style` is the prompt style.

    A mention is a code (P2), a number (principle 2; principles 2 and 4) or a full name in any case ("Factual
    Consistency"). Some prompt styles (`compact`) give the principles numbers but not their names. There, a number after
    a word at the end of a block ("differs 2") is also a mention.
    """
    mentioned: set[int] = set()
    numbers_only = PRINCIPLES[0].name not in principles(style)
    for block in blocks:
        mentioned |= {int(number) for number in _CODE.findall(block)}
        mentioned |= {int(number) for numbers in _NUMBERED.findall(block) for number in re.findall("[1-6]", numbers)}
        mentioned |= {number for number, name in _NAMES if name.search(block)}
        if numbers_only and (trailing := _TRAILING.search(block)):
            mentioned.add(int(trailing[1]))
    return frozenset(mentioned)
