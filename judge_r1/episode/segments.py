"""Splits the text of a turn into its blocks, with the same grammar as the state machine."""

import re
from typing import NamedTuple

from judge_r1.episode.thoughts import split_hidden_thought, without_thoughts

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


def answer_of(text: str) -> tuple[str, bool]:
    """The part of a turn that may be parsed, and whether it stands between answer tags: the content of the first
    complete answer, else the text without thoughts."""
    _, acting = split_hidden_thought(text)
    tagged = next((s.text for s in segments(acting) if s.kind == "answer" and s.closed), None)
    return (without_thoughts(text), False) if tagged is None else (tagged, True)


def _add_text(found: list[Segment], between: str) -> None:
    if between.strip():
        found.append(Segment("text", between))
