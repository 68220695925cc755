"""Edits of a text, and the spans that they change."""

from collections.abc import Sequence
from typing import NamedTuple

from judge_r1.core.documents import ChangedSpan


class Edit(NamedTuple):
    """`text[start:end]` becomes `replacement`. An empty span inserts."""

    start: int
    end: int
    replacement: str


class Edited(NamedTuple):
    """The text after all edits, and one span for each of them, in order."""

    text: str
    spans: tuple[ChangedSpan, ...]


def apply_edits(text: str, edits: Sequence[Edit]) -> Edited:
    """Apply edits that do not overlap. Raises: ValueError if two overlap, or one leaves the text as it is."""
    parts: list[str] = []
    spans: list[ChangedSpan] = []
    at = length = 0
    for edit in sorted(edits):
        if edit.start < at or edit.end < edit.start or edit.end > len(text):
            raise ValueError(f"the edit of {edit.start}-{edit.end} overlaps another one or ends outside the text")
        if text[edit.start : edit.end] == edit.replacement:
            raise ValueError(f"the edit of {edit.start}-{edit.end} changes nothing")
        parts += [text[at : edit.start], edit.replacement]
        new_start = length + edit.start - at
        length = new_start + len(edit.replacement)
        spans.append(ChangedSpan(start=edit.start, end=edit.end, new_start=new_start, new_end=length))
        at = edit.end
    return Edited("".join([*parts, text[at:]]), tuple(spans))
