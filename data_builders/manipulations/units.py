"""The units of a document: paragraphs, sections of paragraphs, chapters, and the prefix that is its short form."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

CHAPTER = "CHAPTER: "
"""The prefix of a heading in a cleaned book."""
HEADING = re.compile(rf"{CHAPTER}|#{{1,6}}\s")
"""The start of a heading: that of a cleaned book, or Markdown's."""
_HEADINGS = re.compile(rf"^(?:{HEADING.pattern})|{CHAPTER}", re.MULTILINE)
LEAST_CHARACTERS = 50
"""The shortest paragraph that is manipulated."""
SECTION_CHARACTERS = 3_000
"""The shortest section."""
Unit = Literal["paragraph", "section", "chapter"]


class Paragraph(NamedTuple):
    """`text[start:end]`, between two blank lines."""

    start: int
    end: int
    text: str

    @property
    def eligible(self) -> bool:
        return len(self.text) >= LEAST_CHARACTERS and not _HEADINGS.search(self.text)


def paragraphs(text: str) -> list[Paragraph]:
    """The parts of the text between pairs of newlines, in order; empty parts are left out."""
    found, start = [], 0
    for part in text.split("\n\n"):
        if part:
            found.append(Paragraph(start, start + len(part), part))
        start += len(part) + 2
    return found


def units(text: str, unit: Unit) -> list[Paragraph]:
    """The eligible units of a text: paragraphs; sections, which are the shortest runs of paragraphs with 3,000
    characters; or chapters, without their headings."""
    every = paragraphs(text)
    if unit == "paragraph":
        return [one for one in every if one.eligible]
    runs: list[list[Paragraph]] = [[]]
    for one in every:
        if _HEADINGS.search(one.text):
            runs.append([])
            continue
        runs[-1].append(one)
        if unit == "section" and runs[-1][-1].end - runs[-1][0].start >= SECTION_CHARACTERS:
            runs.append([])
    joined = [Paragraph(run[0].start, run[-1].end, text[run[0].start : run[-1].end]) for run in runs if run]
    least = SECTION_CHARACTERS if unit == "section" else LEAST_CHARACTERS
    return [one for one in joined if len(one.text) >= least]


def prefix(text: str, tokens: int) -> str:
    """The first `tokens` space-separated tokens of a text, without trailing white space."""
    return " ".join(text.split(" ")[:tokens]).rstrip()


_WORD = re.compile(r"(?:Mr|Mrs|Ms|Dr|Rev|St|Capt|Col|Gen|Lt|Prof)\.(?=\s)|[^\W_]+(?:['’-][^\W_]+)*")


def words(text: str) -> list[tuple[int, int]]:
    """The spans of the words: letters and digits, with apostrophes and hyphens inside, and titles with their dot."""
    return [match.span() for match in _WORD.finditer(text)]


def sentence_starts(text: str, spans: Sequence[tuple[int, int]]) -> set[int]:
    """The positions of the first letter of each sentence span."""
    return {next((at for at in range(start, end) if text[at].isalpha()), start) for start, end in spans}
