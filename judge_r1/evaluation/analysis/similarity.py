"""How alike two texts are, token by token."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from retrieval.bm25 import words


def similarity(one: str, other: str) -> float:
    """2·M / T in [0, 1]: M words matched in order (longest common blocks first: Ratcliff, Obershelp), T words of both.

    Words are lower-cased runs of word characters. 1 for texts of the same words, 0 for texts that share none. Which
    blocks match depends on the order of the two texts where blocks tie, so the mean of both orders is taken.
    """
    a, b = words(one), words(other)
    return (_ratio(a, b) + _ratio(b, a)) / 2


def _ratio(a: Sequence[str], b: Sequence[str]) -> float:
    return SequenceMatcher(None, a, b, autojunk=False).ratio()
