"""Prepares the text of a book for manipulation: the cleaning steps of CoFluEval-LC for Project Gutenberg."""

import re
import unicodedata
from itertools import pairwise

from data_builders.manipulations.units import CHAPTER

_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")
_ENDS = ("”", "!", "?", ".", "'", '"', "’")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:M|Mr|Ms|Mrs|Dr|Prof|St|Lt|Col|Capt|Jr|Sr|vs|etc|e\.g|i\.e)\.$", re.IGNORECASE
)
_WIDEST = 200
"""Characters of a line that is broken for its width, at most."""
_MARKDOWN_HEADING = re.compile(r"^#{1,6}\s+", re.MULTILINE)


def prepared(text: str) -> str:
    """Unicode in NFC, plain newlines, paragraphs between blank lines without other changes. In a text without blank
    lines, such as a judgment, each line is a paragraph if some are longer than a line that is broken for its width.
    Markdown headings become chapter headings."""
    text = unicodedata.normalize("NFC", text).replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")
    text = _MARKDOWN_HEADING.sub(CHAPTER, text)
    text = re.sub(r"\n[^\S\n]*\n\s*", "\n\n", text).strip()
    unbroken = "\n\n" not in text and max(map(len, text.split("\n"))) > _WIDEST
    return re.sub(r"\s*\n\s*", "\n\n", text) if unbroken else text


_FIRST, _LAST = (
    re.compile(rf"^\*\*\* ?{mark} OF (?:THE|THIS) PROJECT GUTENBERG[^\n]*$", re.MULTILINE | re.IGNORECASE)
    for mark in ("START", "END")
)
"""The lines around a book of Project Gutenberg; its header and license are outside of them."""


_CHAPTER_LINE = re.compile(r"(?:chapter|volume|book|part) (?:\d+|[ivxlc]+)\.?", re.IGNORECASE)


def cleaned_book(text: str) -> str:
    """The steps for plain-text books: keep what Project Gutenberg marks as the book, where it does; remove [...] and
    {...}, lines with `*` and underscores; find paragraphs; join a paragraph that starts in lower case to the one
    before; mark headings, which start with "CHAPTER" or three capitals, or are a line such as "Chapter 3".

    The published code removes blank lines and ends a paragraph after each line that ends a sentence. In a text with
    wrapped lines this splits paragraphs where a sentence ends at the end of a line by chance. So blank lines end
    paragraphs here, unless most of them stand inside of sentences, as in a text that is spaced double, or there are
    none.
    """
    text = prepared(text).replace(CHAPTER, "")
    if first := _FIRST.search(text):
        text = text[first.end() :]
    if last := _LAST.search(text):
        text = text[: last.start()]
    text = _BRACKETS.sub("", text)
    lines = ["" if "*" in line else line.strip().replace("_", "") for line in text.split("\n")]
    before_blank = [_ends_sentence(one) for one, after in pairwise(lines) if one and not after and not _is_heading(one)]
    by_blank_lines = bool(before_blank) and sum(before_blank) * 2 >= len(before_blank)
    parts: list[str] = []
    open_ = False
    for line in lines:
        if not line:
            open_ &= not by_blank_lines
            continue
        heading = _is_heading(line)
        if heading:
            parts.append(CHAPTER + line)
        elif open_ or (line[:1].islower() and parts and not parts[-1].startswith(CHAPTER)):
            parts[-1] = f"{parts[-1]}\n{line}"
        else:
            parts.append(line)
        open_ = not heading and (by_blank_lines or not _ends_sentence(line))
    return "\n\n".join(parts)


def _is_heading(line: str) -> bool:
    capitals = len(line) > 2 and line[:3].isalpha() and line[:3].isupper()
    return capitals or line.startswith("CHAPTER") or _CHAPTER_LINE.fullmatch(line) is not None


def _ends_sentence(line: str) -> bool:
    return line.endswith(_ENDS) and not _ABBREVIATION.search(line)
