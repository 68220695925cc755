"""Computes the word-level differences of a variant from its reference, as edits of the reference.

Edits in the same step form one change. White space and the style of quotation marks and dashes are taken from the
reference: a teacher that copies `’` as `'` changes nothing.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from data_builders.text_units.edits import Edit, Interval
from data_builders.text_units.steps import Step, sentences

_TOKEN = re.compile(r"\d+(?:[.,·]\d+)*|[^\W\d_]+|[^\w\s]|_")
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_PLAIN_MARKS = str.maketrans("‘’‛′“”„″«»‹›–—−‐‑", '\'\'\'\'""""""<>-----')


@dataclass(frozen=True)
class Change:
    """One edit of the reference, and the indices of the steps that it touches."""

    edit: Edit
    steps: tuple[int, ...]


@dataclass(frozen=True)
class _Token:
    start: int
    end: int
    key: str


def find_changes(reference: str, steps: Sequence[Step], variant: str) -> list[Change] | None:
    """Return the changes of a variant in order; None if its number of non-blank lines differs."""
    edits = _find_edits(reference, variant)
    if edits is None:
        return None
    changes: list[Change] = []
    for edit in edits:
        touched = _touched_steps(steps, edit)
        if changes and touched[0] <= changes[-1].steps[-1]:
            last = changes[-1]
            between = reference[last.edit.end : edit.start]
            joined = Edit(last.edit.start, edit.end, last.edit.replacement + between + edit.replacement)
            changes[-1] = Change(joined, tuple(sorted({*last.steps, *touched})))
        else:
            changes.append(Change(edit, touched))
    return changes


def _find_edits(reference: str, variant: str) -> list[Edit] | None:
    """Return the smallest edits that turn the reference's words into the variant's, in order."""
    lines, others = list(_LINE.finditer(reference)), list(_LINE.finditer(variant))
    if len(lines) != len(others):
        return None
    return [
        edit
        for line, other in zip(lines, others, strict=True)
        if line[0] != other[0]
        for part, counterpart in _aligned(line, other)
        for edit in _word_edits(reference, part, variant, counterpart)
    ]


def step_at(steps: Sequence[Step], position: int) -> int:
    """Return the index of the step at a character of the reference; white space belongs to the step before it."""
    return max(0, bisect_right([step.start for step in steps], position) - 1)


def _touched_steps(steps: Sequence[Step], edit: Edit) -> tuple[int, ...]:
    first = step_at(steps, edit.start)
    return tuple(range(first, step_at(steps, max(edit.start, edit.end - 1)) + 1))


def _aligned(line: re.Match[str], other: re.Match[str]) -> Iterator[tuple[Interval, Interval]]:
    """Yield corresponding intervals that differ: sentences if both lines have as many, else the whole lines."""
    parts, counterparts = sentences(line[0]), sentences(other[0])
    if len(parts) != len(counterparts):
        yield line.span(), other.span()
        return
    for (a, b), (c, d) in zip(parts, counterparts, strict=True):
        if line[0][a:b] != other[0][c:d]:
            yield (line.start() + a, line.start() + b), (other.start() + c, other.start() + d)


def _word_edits(reference: str, old: Interval, variant: str, new: Interval) -> Iterator[Edit]:
    """Yield the edits between the words that two intervals share."""
    old, new = _trim_common_ends(reference, old, variant, new)
    old_tokens, new_tokens = _tokens(reference, old), _tokens(variant, new)
    for i1, i2, j1, j2 in _differing([t.key for t in old_tokens], [t.key for t in new_tokens]):
        start, end = _gap(old_tokens, i1, i2, old)
        first, last = _gap(new_tokens, j1, j2, new)
        yield _without_common_space(reference, start, end, variant[first:last])


def _gap(tokens: Sequence[_Token], first: int, last: int, limit: Interval) -> Interval:
    """Return the characters from the token before `tokens[first:last]` to the token after it."""
    return (tokens[first - 1].end if first else limit[0]), (tokens[last].start if last < len(tokens) else limit[1])


def _trim_common_ends(reference: str, old: Interval, variant: str, new: Interval) -> tuple[Interval, Interval]:
    """Remove the common start and end of two intervals, cut at white space, so that the diff sees little text."""
    a, b = reference[slice(*old)], variant[slice(*new)]
    same = bisect_left(range(min(len(a), len(b))), True, key=lambda n: a[: n + 1] != b[: n + 1])
    head = next((n for n in range(same, 0, -1) if a[n - 1].isspace()), 0)
    a, b = a[head:], b[head:]
    same = bisect_left(range(min(len(a), len(b))), True, key=lambda n: a[-n - 1 :] != b[-n - 1 :])
    tail = next((n - 1 for n in range(same, 0, -1) if a[-n].isspace()), 0)
    return (old[0] + head, old[1] - tail), (new[0] + head, new[1] - tail)


def _without_common_space(reference: str, start: int, end: int, text: str) -> Edit:
    """Return the edit of `reference[start:end]` into `text` without the surrounding white space that both have."""
    if start < end and text and reference[start].isspace() and text[0].isspace():
        start, text = end - len(reference[start:end].lstrip()), text.lstrip()
    if start < end and text and reference[end - 1].isspace() and text[-1].isspace():
        end, text = start + len(reference[start:end].rstrip()), text.rstrip()
    return Edit(start, end, text)


def _tokens(text: str, interval: Interval) -> list[_Token]:
    return [_Token(*m.span(), m[0].translate(_PLAIN_MARKS)) for m in _TOKEN.finditer(text, *interval)]


def _differing(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield differing runs `old[i1:i2]`, `new[j1:j2]`. Common ends are removed before the quadratic search."""
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
