"""Where a variant differs from its reference: a word-level diff, line by line, as edits of the reference.

Lines are compared sentence by sentence where both have as many, so that flaws in neighbouring sentences stay two.
White space, and the kind of quotation marks and dashes, are taken from the reference: a teacher that copies `’` as `'`
has changed nothing. Edits in one step of the reference are one place.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from data_builders.perturb.rules.operators import Edit, Step
from data_builders.perturb.rules.steps import sentences

_TOKEN = re.compile(r"\d+(?:[.,·]\d+)*|[^\W\d_]+|[^\w\s]|_")
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_ALIKE = str.maketrans("‘’‛′“”„″«»‹›–—−‐‑", '\'\'\'\'""""""<>-----')


@dataclass(frozen=True)
class Place:
    """One edit of the reference, and the steps of it that the edit touches."""

    edit: Edit
    steps: tuple[int, ...]


_Stretch = tuple[int, int]


@dataclass(frozen=True)
class _Token:
    start: int
    end: int
    key: str


def places(reference: str, steps: Sequence[Step], variant: str) -> list[Place] | None:
    """The places in which a variant differs, in order; None where it has more or fewer lines (blank ones aside)."""
    found = edits(reference, variant)
    if found is None:
        return None
    merged: list[Place] = []
    for edit in found:
        touched = _touched(steps, edit)
        if merged:
            last = merged[-1]
            if touched[0] <= last.steps[-1]:
                between = reference[last.edit.end : edit.start]
                joined = Edit(last.edit.start, edit.end, last.edit.replacement + between + edit.replacement)
                merged[-1] = Place(joined, tuple(sorted({*last.steps, *touched})))
                continue
        merged.append(Place(edit, touched))
    return merged


def edits(reference: str, variant: str) -> list[Edit] | None:
    """The smallest edits that make the variant's words of the reference, in order; None as above."""
    lines, others = list(_LINE.finditer(reference)), list(_LINE.finditer(variant))
    if len(lines) != len(others):
        return None
    return [
        edit
        for line, other in zip(lines, others, strict=True)
        if line[0] != other[0]
        for part, counterpart in _aligned(line, other)
        for edit in _changes(reference, part, variant, counterpart)
    ]


def step_at(steps: Sequence[Step], position: int) -> int:
    """The step that a character of the reference belongs to; white space belongs to the step before it."""
    return max(0, bisect_right([step.start for step in steps], position) - 1)


def _touched(steps: Sequence[Step], edit: Edit) -> tuple[int, ...]:
    first = step_at(steps, edit.start)
    return tuple(range(first, step_at(steps, max(edit.start, edit.end - 1)) + 1))


def _aligned(line: re.Match[str], other: re.Match[str]) -> Iterator[tuple[_Stretch, _Stretch]]:
    """Differing stretches that stand for each other: sentences where there are as many, else the whole lines."""
    parts, counterparts = sentences(line[0]), sentences(other[0])
    if len(parts) != len(counterparts):
        yield line.span(), other.span()
        return
    for (a, b), (c, d) in zip(parts, counterparts, strict=True):
        if line[0][a:b] != other[0][c:d]:
            yield (line.start() + a, line.start() + b), (other.start() + c, other.start() + d)


def _changes(reference: str, old: _Stretch, variant: str, new: _Stretch) -> Iterator[Edit]:
    """The edits between two stretches: what lies between words that both have."""
    old, new = _trimmed_ends(reference, old, variant, new)
    ours, theirs = _tokens(reference, old), _tokens(variant, new)
    for i1, i2, j1, j2 in _differing([t.key for t in ours], [t.key for t in theirs]):
        start, end = (ours[i1 - 1].end if i1 else old[0]), (ours[i2].start if i2 < len(ours) else old[1])
        first, last = (theirs[j1 - 1].end if j1 else new[0]), (theirs[j2].start if j2 < len(theirs) else new[1])
        yield _trimmed(reference, start, end, variant[first:last])


def _trimmed_ends(reference: str, old: _Stretch, variant: str, new: _Stretch) -> tuple[_Stretch, _Stretch]:
    """The stretches without what both begin and end with, cut after white space: most of a variant is not looked at."""
    a, b = reference[slice(*old)], variant[slice(*new)]
    same = bisect_left(range(min(len(a), len(b))), True, key=lambda n: a[: n + 1] != b[: n + 1])
    head = next((n for n in range(same, 0, -1) if a[n - 1].isspace()), 0)
    a, b = a[head:], b[head:]
    same = bisect_left(range(min(len(a), len(b))), True, key=lambda n: a[-n - 1 :] != b[-n - 1 :])
    tail = next((n - 1 for n in range(same, 0, -1) if a[-n].isspace()), 0)
    return (old[0] + head, old[1] - tail), (new[0] + head, new[1] - tail)


def _trimmed(reference: str, start: int, end: int, text: str) -> Edit:
    """The edit of `reference[start:end]` into `text`, less the white space around it that both have."""
    if start < end and text and reference[start].isspace() and text[0].isspace():
        start, text = end - len(reference[start:end].lstrip()), text.lstrip()
    if start < end and text and reference[end - 1].isspace() and text[-1].isspace():
        end, text = start + len(reference[start:end].rstrip()), text.rstrip()
    return Edit(start, end, text)


def _tokens(text: str, stretch: _Stretch) -> list[_Token]:
    return [_Token(*m.span(), m[0].translate(_ALIKE)) for m in _TOKEN.finditer(text, *stretch)]


def _differing(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Differing runs `old[i1:i2]`, `new[j1:j2]`. What is equal at both ends is left out of the search first."""
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
