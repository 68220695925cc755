"""How much of one text stands word for word in another: the share of its runs of eight words."""

import re

RUN = 8


def runs(text: str) -> frozenset[str]:
    """All runs of eight words, in lower case and without punctuation."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(" ".join(words[n : n + RUN]) for n in range(len(words) - RUN + 1))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The runs that both have, as a share of those of the shorter text."""
    return len(one & other) / max(1, min(len(one), len(other)))
