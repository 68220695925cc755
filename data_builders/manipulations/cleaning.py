"""Prepares the text of a book for manipulation: the cleaning steps of CoFluEval-LC for Project Gutenberg, in order."""

import re
import unicodedata

from data_builders.manipulations.units import CHAPTER

_BRACKETS = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}")
_ENDS = ("”", "!", "?", ".", "'", '"', "’")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:M|Mr|Ms|Mrs|Dr|Prof|St|Lt|Col|Capt|Jr|Sr|vs|etc|e\.g|i\.e)\.$", re.IGNORECASE
)
_MARKDOWN_HEADING = re.compile(r"^#{1,6}\s+", re.MULTILINE)


def prepared(text: str) -> str:
    """Unicode in NFC, plain newlines, paragraphs between blank lines without other changes. Markdown headings become
    chapter headings."""
    text = unicodedata.normalize("NFC", text).replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")
    text = _MARKDOWN_HEADING.sub(CHAPTER, text)
    return re.sub(r"\n[^\S\n]*\n\s*", "\n\n", text).strip()


_FIRST, _LAST = (
    re.compile(rf"^\*\*\* ?{mark} OF (?:THE|THIS) PROJECT GUTENBERG[^\n]*$", re.MULTILINE | re.IGNORECASE)
    for mark in ("START", "END")
)
"""The lines around a book of Project Gutenberg; its header and license are outside of them."""


def cleaned_book(text: str) -> str:
    """The steps for plain-text books: keep what Project Gutenberg marks as the book, where it does; remove [...] and
    {...}, lines with `*`, blank lines and underscores; end a paragraph after a line that ends a sentence; join a
    paragraph that starts in lower case to the one before; mark headings, which start with "CHAPTER" or three
    capitals."""
    text = prepared(text).replace(CHAPTER, "")
    if first := _FIRST.search(text):
        text = text[first.end() :]
    if last := _LAST.search(text):
        text = text[: last.start()]
    text = _BRACKETS.sub("", text)
    lines = [line.strip() for line in text.split("\n") if line.strip() and "*" not in line]
    lines = [line.replace("_", "") for line in lines]
    parts: list[str] = []
    open_ = False
    for line in lines:
        heading = line.startswith("CHAPTER") or (len(line) > 2 and line[:3].isalpha() and line[:3].isupper())
        if heading:
            parts.append(CHAPTER + line)
        elif open_ or (line[:1].islower() and parts and not parts[-1].startswith(CHAPTER)):
            parts[-1] = f"{parts[-1]}\n{line}"
        else:
            parts.append(line)
        open_ = not heading and not (line.endswith(_ENDS) and not _ABBREVIATION.search(line))
    return "\n\n".join(parts)
