"""Verbatim overlap of two texts: the share of common runs of eight words."""

import re

RUN = 8


def runs(text: str) -> frozenset[str]:
    """Returns all runs of eight words, lower-cased and without punctuation."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(" ".join(words[n : n + RUN]) for n in range(len(words) - RUN + 1))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Returns the common runs as a share of the runs of the shorter text."""
    return len(one & other) / max(1, min(len(one), len(other)))
