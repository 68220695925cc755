"""What a policy wrote in one turn, cut into its blocks, by the same grammar as the episode machine."""

import re
from typing import Literal, NamedTuple

Kind = Literal["think", "search", "answer", "text"]
_OPENING = re.compile(r"<(think|search|answer)>")


class Segment(NamedTuple):
    """One block without its tags, or the text between blocks; `closed` is False where the closing tag is missing."""

    kind: Kind
    text: str
    closed: bool = True


def segments(text: str, *, thinking: bool = False) -> list[Segment]:
    """The blocks of a turn, in order. Tags inside an open block are its text.

    `thinking`: the prompt itself has opened a `<think>`, so the turn starts inside it.
    """
    found: list[Segment] = []
    at, kind = 0, "think" if thinking else None
    while at < len(text):
        if kind is None:
            opening = _OPENING.search(text, at)
            end = opening.start() if opening else len(text)
            if text[at:end].strip():
                found.append(Segment("text", text[at:end].strip()))
            at, kind = (opening.end(), opening[1]) if opening else (len(text), None)
            if kind is None or at < len(text):
                continue
        closing = text.find(f"</{kind}>", at)
        body = text[at:closing] if closing >= 0 else text[at:]
        found.append(Segment(kind, body, closing >= 0))  # type: ignore[arg-type]
        at, kind = (closing + len(f"</{kind}>"), None) if closing >= 0 else (len(text), None)
    return found


def answer_of(text: str) -> str | None:
    """The content of the first complete answer of a turn; None without one."""
    return next((s.text for s in segments(text) if s.kind == "answer" and s.closed), None)
