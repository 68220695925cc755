"""Replaces parts of a text."""

from collections.abc import Sequence
from dataclasses import dataclass

from judge_r1.core.records import Span

Interval = tuple[int, int]
"""Characters `[start, end)` of a text."""


@dataclass(frozen=True)
class Edit:
    """Replaces characters `[start, end)` of the reference. An insertion has start == end.

    `context_spans` locate the text of the case's context that the replacement contradicts.
    """

    start: int
    end: int
    replacement: str
    context_spans: tuple[Span, ...] = ()


def apply_edits(text: str, edits: Sequence[Edit]) -> tuple[str, list[Span]]:
    """Return the edited text, and the span of each replacement in it, in the order of `edits`.

    The span of an empty replacement is the character before it.

    Raises:
        ValueError: two edits overlap.
    """
    spans: dict[int, Span] = {}
    parts, position, length = [], 0, 0
    for index, edit in sorted(enumerate(edits), key=lambda entry: entry[1].start):
        if edit.start < position:
            raise ValueError(f"two edits overlap at character {edit.start} of the reference")
        parts += [text[position : edit.start], edit.replacement]
        length += edit.start - position
        start = length if edit.replacement else max(0, length - 1)
        length += len(edit.replacement)
        spans[index] = Span(start=start, end=max(length, start + 1))
        position = edit.end
    return "".join([*parts, text[position:]]), [spans[index] for index in range(len(edits))]
