"""Wordings put together from parts, as long as the words they replace."""

import re
from collections.abc import Mapping, Sequence
from random import Random

_SLOT = re.compile(r"\{(\w+)\}")

Parts = Mapping[str, Sequence[str]]


def wording(templates: Sequence[str], parts: Parts, rng: Random) -> str:
    """A template whose `{slot}`s are filled from `parts`, slots within them too."""
    text = rng.choice(templates)
    while match := _SLOT.search(text):
        text = text[: match.start()] + rng.choice(parts[match[1]]) + text[match.end() :]
    return text


def fitted(templates: Sequence[str], parts: Parts, length: int, rng: Random, tries: int = 6) -> str:
    """Of some wordings the one whose number of characters is nearest to `length`."""
    return min((wording(templates, parts, rng) for _ in range(tries)), key=lambda text: abs(len(text) - length))


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
