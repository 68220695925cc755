"""Splits a reference reasoning into steps, the units in which flaws are placed.

A line that opens with a number or a bullet starts a step, and so does a paragraph. If this gives fewer than `MIN_STEPS`
steps of five words, every sentence becomes a step.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from data_builders.text_units.edits import Edit, Interval
from judge_r1.core.records import Span
from retrieval import passages

MIN_STEPS = 10
"""Steps a reference should have, so that five variants of one principle find five different steps."""

MARKER = re.compile(r"[ \t]*(?:\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]|[-*+•·–—])[ \t]+(?=\S)")
"""Numbering or bullet at the start of a line."""

_HEADING = re.compile(
    r"(?:#{1,6}[ \t]+)?(?:\*\*[^*\n]{1,90}\*\*(?:[ \t]*\([^)\n]*\))?(?:[ \t]*[:–-])?"
    r"|[A-Z][^.:;!?*\n]{1,60}:)[ \t]+(?=\S)"
)
_FOLLOWING = 120
"""Characters of the text behind a step that the step keeps."""
_LETTER = re.compile(r"[^\W_]")
_WORD = re.compile(r"\S+")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True)
class Step:
    """One step of a reasoning: characters `[start, end)` of the reference, including its numbering and bullet."""

    index: int
    start: int
    end: int
    text: str
    following: str = ""
    """The beginning of the text behind the step."""

    def edit(self, interval: Interval, replacement: str, *context_spans: Span) -> Edit:
        """Return the edit that replaces `interval` of the step's text."""
        return Edit(self.start + interval[0], self.start + interval[1], replacement, context_spans)


def split_steps(reference: str) -> list[Step]:
    """Return the steps of a reference: ordered, disjoint, and complete except for white space between them."""
    intervals = list(blocks(reference))
    if sum(len(_WORD.findall(reference[start:end])) >= 5 for start, end in intervals) < MIN_STEPS:
        intervals = [(start + a, start + b) for start, end in intervals for a, b in sentences(reference[start:end])]
    return [
        Step(index, start, end, reference[start:end], following=reference[end : end + _FOLLOWING])
        for index, (start, end) in enumerate(intervals)
    ]


def blocks(text: str) -> Iterator[Interval]:
    """Yield list entries and paragraphs without the white space around them."""
    starts, previous = [], ""
    for line in re.finditer(r"[^\n]*\n|[^\n]+", text):
        content = line[0].strip()
        if content:
            ended = previous == "" or previous[-1] in '.:;!?”")*]'
            if MARKER.match(line[0]) or previous == "" or (ended and not content[0].islower()):
                starts.append(line.start())
        previous = content
    for start, end in pairwise([*starts, len(text)]):
        yield _strip(text, start, end)


@lru_cache(maxsize=1024)
def sentences(text: str) -> Sequence[Interval]:
    """Return the sentences of a text, as passages are made of them, but a line break does not end a sentence. Numbering
    belongs to its sentence."""
    return tuple(passages.sentences(_SPACE.sub(" ", text)))


def _strip(text: str, start: int, end: int) -> Interval:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def body_start(step: Step) -> int:
    """Return the offset in the step after its numbering, bullet, and heading such as `**X:**` or `X:`."""
    marker = MARKER.match(step.text)
    start = marker.end() if marker else 0
    heading = _HEADING.match(step.text, start)
    return heading.end() if heading else start


def body_sentences(step: Step, min_words: int = 4) -> list[Interval]:
    """Return the step's sentences of at least `min_words` words, without numbering and heading."""
    first = body_start(step)
    intervals = [(first + start, first + end) for start, end in sentences(step.text[first:])]
    return [
        (start, end)
        for start, end in intervals
        if len(_WORD.findall(step.text[start:end])) >= min_words and _LETTER.search(step.text[start:end])
    ]


def numbering(text: str) -> list[str]:
    """Return the numbers and bullets at the starts of lines, with their indentation."""
    return [match[0] for line in text.split("\n") if (match := MARKER.match(line))]
