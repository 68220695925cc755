"""The blocks of a turn, by the grammar of the state machine, for reports and stored episodes."""

import re
from typing import NamedTuple

_OPENING = re.compile(r"<(think|search|answer)>")


class Segment(NamedTuple):
    """One block without its tags (`kind` is think, search or answer), or the text between blocks (`kind` is text).

    `closed` is False if the closing tag is missing.
    """

    kind: str
    text: str
    closed: bool = True


def segments(text: str) -> list[Segment]:
    """The blocks of a turn and the text between them, in order. Tags inside an open block are its text."""
    found: list[Segment] = []
    start = 0
    while opening := _OPENING.search(text, start):
        _add_text(found, text[start : opening.start()])
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            return [*found, Segment(opening[1], text[opening.end() :], closed=False)]
        found.append(Segment(opening[1], text[opening.end() : end]))
        start = end + len(closing)
    _add_text(found, text[start:])
    return found


def _add_text(found: list[Segment], between: str) -> None:
    if between.strip():
        found.append(Segment("text", between))
