"""Where a variant differs from its reference: a word-level diff, line by line, as edits of the reference.

White space, and the kind of quotation marks and dashes, are taken from the reference: a teacher that copies `’` as `'`
has changed nothing. Edits in one step of the reference are one place, and so are edits with hardly a word between them.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from data_builders.perturb.operators import Edit, Step

NEAR = 3
"""Edits with fewer words and marks than this between them are one edit."""

_TOKEN = re.compile(r"\d+(?:[.,·]\d+)*|[^\W\d_]+|[^\w\s]|_")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_ALIKE = str.maketrans("‘’‛′“”„″«»‹›–—−‐‑", "''''\"\"\"\"\"\"<>-----")


@dataclass(frozen=True)
class Place:
    """One edit of the reference, and the steps of it that the edit touches."""

    edit: Edit
    steps: tuple[int, ...]


@dataclass(frozen=True)
class _Token:
    start: int
    end: int
    key: str


def places(reference: str, steps: Sequence[Step], variant: str) -> list[Place] | None:
    """The places in which a variant differs, in order; None where it has more or fewer lines (blank ones aside)."""
    found = edits(reference, steps, variant)
    if found is None:
        return None
    merged: list[Place] = []
    for edit in found:
        touched = _touched(steps, edit)
        if merged:
            last = merged[-1]
            between = reference[last.edit.end : edit.start]
            if touched[0] <= last.steps[-1] or ("\n" not in between and len(_TOKEN.findall(between)) < NEAR):
                joined = Edit(last.edit.start, edit.end, last.edit.replacement + between + edit.replacement)
                merged[-1] = Place(joined, tuple(sorted({*last.steps, *touched})))
                continue
        merged.append(Place(edit, touched))
    return merged


def edits(reference: str, steps: Sequence[Step], variant: str) -> list[Edit] | None:
    """The smallest edits that make the variant's words of the reference, in order; None as above."""
    lines, others = list(_LINE.finditer(reference)), list(_LINE.finditer(variant))
    if len(lines) != len(others):
        return None
    starts = frozenset(step.start for step in steps)
    return [
        edit
        for line, other in zip(lines, others, strict=True)
        if line[0] != other[0]
        for edit in _line_edits(reference, line.span(), variant, other.span(), starts)
    ]


def step_at(steps: Sequence[Step], position: int) -> int:
    """The step that a character of the reference belongs to; white space belongs to the step before it."""
    return max(0, bisect_right([step.start for step in steps], position) - 1)


def _touched(steps: Sequence[Step], edit: Edit) -> tuple[int, ...]:
    first = step_at(steps, edit.start)
    return tuple(range(first, step_at(steps, max(edit.start, edit.end - 1)) + 1))


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    return [_Token(*m.span(), m[0].translate(_ALIKE)) for m in _TOKEN.finditer(text, start, end)]


def _line_edits(
    reference: str, line: tuple[int, int], variant: str, other: tuple[int, int], starts: frozenset[int]
) -> Iterator[Edit]:
    old, new = _tokens(reference, *line), _tokens(variant, *other)
    for i1, i2, j1, j2 in _changes([token.key for token in old], [token.key for token in new]):
        if i1 < i2 and j1 < j2:
            yield Edit(old[i1].start, old[i2 - 1].end, variant[new[j1].start : new[j2 - 1].end])
        elif i1 < i2:
            yield _deletion(reference, line, old[i1].start, old[i2 - 1].end)
        elif i1 == 0 or (i1 < len(old) and old[i1].start in starts):
            at, end = (old[i1].start, new[j2].start) if i1 < len(old) else (line[0], new[j2 - 1].end)
            yield Edit(at, at, variant[new[j1].start : end])
        else:
            at = old[i1 - 1].end
            yield Edit(at, at, variant[new[j1 - 1].end : new[j2 - 1].end])


def _deletion(reference: str, line: tuple[int, int], start: int, end: int) -> Edit:
    """The words go with the space after them, or before them where none follows."""
    after = end
    while after < line[1] and reference[after] in " \t":
        after += 1
    if after > end and (start == line[0] or reference[start - 1].isspace()):
        return Edit(start, after, "")
    while start > line[0] and reference[start - 1] in " \t":
        start -= 1
    return Edit(start, end, "")


def _changes(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Differing stretches `old[i1:i2]`, `new[j1:j2]`. What is equal at both ends is left out of the search first."""
    first, shorter = 0, min(len(old), len(new))
    while first < shorter and old[first] == new[first]:
        first += 1
    last = 0
    while last < shorter - first and old[-1 - last] == new[-1 - last]:
        last += 1
    a, b = old[first : len(old) - last], new[first : len(new) - last]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            yield first + i1, first + i2, first + j1, first + j2
