"""Where two texts differ, word by word, for readers who ask to see it."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache

_WORD = re.compile(r"\s*\S+|\s+$")
Piece = tuple[str, bool]
"""A stretch of text, and whether the other text lacks it."""


@lru_cache(maxsize=256)
def differences(one: str, other: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both texts in pieces. Joined, the pieces of a text are the text."""
    a, b = _WORD.findall(one), _WORD.findall(other)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a1, a2, b1, b2 in matcher.get_opcodes():
        _add(left, a[a1:a2], kind != "equal")
        _add(right, b[b1:b2], kind != "equal")
    return tuple(left), tuple(right)


def _add(pieces: list[Piece], words: Sequence[str], differs: bool) -> None:
    """White space before what differs belongs to what is the same."""
    text = "".join(words)
    bare = text.lstrip() if differs else text
    if len(bare) < len(text):
        pieces.append((text[: len(text) - len(bare)], False))
    if bare:
        pieces.append((bare, differs))
