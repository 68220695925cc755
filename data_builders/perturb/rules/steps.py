"""A reference reasoning as a list of steps: the places where a flaw can be put.

A line that opens with a number, a bullet or a sub-bullet starts a step; so does a paragraph. A line that only wraps
its paragraph does not. Where that gives fewer than `ENOUGH` steps with something to say, every sentence is a step.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from data_builders.perturb.rules.operators import Step

ENOUGH = 10
"""Steps that a reference should have: five variants of one principle need five places."""

MARKER = re.compile(r"[ \t]*(?:\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]|[-*+•·–—])[ \t]+(?=\S)")
"""Numbering or bullet at the start of a line."""

_HEADING = re.compile(
    r"(?:#{1,6}[ \t]+)?(?:\*\*[^*\n]{1,90}\*\*(?:[ \t]*\([^)\n]*\))?(?:[ \t]*[:–-])?"
    r"|[A-Z][^.:;!?*\n]{1,60}:)[ \t]+(?=\S)"
)
_LETTER = re.compile(r"[^\W_]")
_WORD = re.compile(r"\S+")
_STOP = re.compile(r"(?<=[.!?])[\"'”’»)\]*]*[ \t\n]+(?=[\"'“‘«(\[*]*[A-ZÀ-ÞĀ-Ž0-9])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:v|vs|cf|no|nos|para|paras|p|pp|art|arts|seq|al|fig|figs|eq|ref|refs|dr|mr|mrs|ms|prof|st|approx|ca|dec|"
    r"op|cit|vol|ed|eds|e\.g|i\.e|etc|resp|inc|ltd|jr|sr|sp|spp|\w)|\d)\.$",
    re.IGNORECASE,
)


def split_steps(reference: str) -> list[Step]:
    """The steps of a reference: in order, disjoint, and together all of it but white space between them."""
    spans = list(_blocks(reference))
    if sum(len(_WORD.findall(reference[start:end])) >= 5 for start, end in spans) < ENOUGH:
        spans = [(start + a, start + b) for start, end in spans for a, b in sentences(reference[start:end])]
    return [Step(index, start, end, reference[start:end]) for index, (start, end) in enumerate(spans)]


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Spans of list entries and paragraphs, without the white space around them."""
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


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a text. Numbering stays with its sentence, abbreviations and initials end none."""
    marker = MARKER.match(text)
    first = marker.end() if marker else 0
    cuts = [0]
    for stop in _STOP.finditer(text, first):
        before = text[cuts[-1] : stop.start()]
        if stop.start() > first and not (before.endswith(".") and _is_abbreviation(before, text[stop.end()])):
            cuts.append(stop.end())
    spans = (_strip(text, start, end) for start, end in pairwise([*cuts, len(text)]))
    return [(start, end) for start, end in spans if start < end]


def _is_abbreviation(before: str, following: str) -> bool:
    match = _ABBREVIATION.search(before[-12:])
    if match is None:
        return False
    if match[0][:-1].isdigit():  # "in 2001. The" ends a sentence, "no. 4. 5" does not
        return following.isdigit()
    return match[0].lower() != "etc." or not following.isupper()


def _strip(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def body(step: Step) -> int:
    """Where the words of a step begin, in the step: after numbering, bullet and a heading such as `**X:**` or `X:`."""
    marker = MARKER.match(step.text)
    start = marker.end() if marker else 0
    heading = _HEADING.match(step.text, start)
    return heading.end() if heading else start


def body_sentences(step: Step, least: int = 4) -> list[tuple[int, int]]:
    """Spans in the step's text of its sentences of at least `least` words, without numbering and heading."""
    first = body(step)
    spans = [(first + start, first + end) for start, end in sentences(step.text[first:])]
    return [
        (start, end)
        for start, end in spans
        if len(_WORD.findall(step.text[start:end])) >= least and _LETTER.search(step.text[start:end])
    ]


def numbering(text: str) -> list[str]:
    """The numbers and bullets that open the lines of a text, with their indentation."""
    return [match[0] for line in text.split("\n") if (match := MARKER.match(line))]
