"""Splits replies: thoughts and answer, and the blocks of a turn, with the same grammar as the state machine.

The answer, which alone may be parsed, is what follows the last `</think>`. Its opening tag may be missing, because a
chat template can write it.
"""

import re
from typing import NamedTuple

_TAG = re.compile("</?think>")
_CLOSING = "</think>"


def answer_offset(text: str) -> int:
    """The index at which the answer starts."""
    return end + len(_CLOSING) if (end := text.rfind(_CLOSING)) >= 0 else 0


def without_thoughts(text: str) -> str:
    """The answer of a reply, also without a last thought that is not closed."""
    return text[answer_offset(text) :].partition("<think>")[0]


def thought_is_open(text: str) -> bool:
    """Whether the reply ends inside a thought."""
    return "<think>" in text[answer_offset(text) :]


def split_hidden_thought(text: str) -> tuple[str, str]:
    """Splits a reply with action tags into the thought that the chat template has opened and the rest.

    This thought ends at the last `</think>` that closes no `<think>`. Actions in it are drafts.
    """
    end, is_open = 0, False
    for tag in _TAG.finditer(text):
        if tag[0] == _CLOSING and not is_open:
            end = tag.end()
        is_open = tag[0] != _CLOSING
    return text[:end].removesuffix(_CLOSING), text[end:]


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
