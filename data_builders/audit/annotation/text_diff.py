"""Computes the word-level differences of two texts, for the page's switch `Show differences`."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

_WORD = re.compile(r"\s*\S+|\s+$")
Piece = tuple[str, bool]
"""A piece of text, and whether it differs from the other text."""


@lru_cache(maxsize=256)
def differences(one: str, other: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Split both texts into pieces. The pieces of a text concatenate to the text."""
    a, b = _WORD.findall(one), _WORD.findall(other)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a1, a2, b1, b2 in matcher.get_opcodes():
        _add(left, a[a1:a2], kind != "equal")
        _add(right, b[b1:b2], kind != "equal")
    return tuple(left), tuple(right)


def _add(pieces: list[Piece], words: Sequence[str], differs: bool) -> None:
    """Append words as a piece. White space before differing words counts as equal."""
    text = "".join(words)
    bare = text.lstrip() if differs else text
    if len(bare) < len(text):
        pieces.append((text[: len(text) - len(bare)], False))
    if bare:
        pieces.append((bare, differs))
