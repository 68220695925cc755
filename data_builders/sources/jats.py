"""Converts journal articles in JATS XML to plain text, without reviews, replies and references.

A block is a section title, a paragraph, a figure or table (label, caption, one line per row with cells separated by
`|`) or a formula. Figures and footnotes inside a paragraph follow the paragraph's text. `jats_inline` writes
superscripts, citations and formulas within a block.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from data_builders.sources.corpus_io import SourceError, one_line, read_bytes
from data_builders.sources.jats_inline import display_formula, inline_text
from data_builders.sources.text_repair import Changes

# The qualified name of the attribute xlink:href.
HREF = "{http://www.w3.org/1999/xlink}href"
_CAPTIONED = ("fig", "table-wrap", "supplementary-material", "media")
_FLOATS = (*_CAPTIONED, "fig-group", "boxed-text", "disp-quote", "list", "fn")
_SKIPPED = ("object-id", "graphic", "permissions", "attrib")
_INLINE = (*_FLOATS, *_SKIPPED)
_DOI = re.compile(r"DOI: ?(?:https?://\S+|10\.\S+)")


def read_article(path: Path) -> ET.Element:
    """Reads an article (.xml, .xml.gz or .xml.xz) and returns its root element.

    Raises:
        SourceError: The file cannot be read, is not valid XML or is not a JATS article.
    """
    try:
        root = ET.fromstring(read_bytes(path))
    except ET.ParseError as error:
        raise SourceError(f"{path} is not valid XML: {error}") from None
    if root.tag != "article":
        raise SourceError(f"{path} is not a JATS article: its root is <{root.tag}>, not <article>")
    return root


def article_text(root: ET.Element, changes: Changes | None = None) -> str:
    """The title, abstract and body, as blocks with a blank line between them.

    Figures and tables that stand after the body follow it. Editors' digests and assessments, references, decision
    letters and replies are left out. `changes` counts markup
    that is written in plain text or left out.
    """
    meta = root.find("front/article-meta")
    parts = [title_of(root, changes)]
    if meta is not None:
        for abstract in meta.findall("abstract"):
            if abstract.get("abstract-type") is None:
                parts += ["Abstract", *blocks(abstract, changes)]
    for part in (*root.findall("body"), *root.findall("floats-group")):
        parts += blocks(part, changes)
    return "\n\n".join(part for part in parts if part)


def title_of(root: ET.Element, changes: Changes | None = None) -> str:
    """The article's title on one line; empty if it has none."""
    title = root.find("front/article-meta/title-group/article-title")
    return "" if title is None else one_line(inline_text(title, _counter(changes)))


def blocks(element: ET.Element, changes: Changes | None = None) -> Iterator[str]:
    """The non-empty text blocks of an element, in document order."""
    changes = _counter(changes)
    for child in element:
        if child.tag in _CAPTIONED:
            yield from _captioned(child, changes)
        elif child.tag == "label" and element.tag == "fn":
            continue
        elif child.tag in ("p", "title", "label", "disp-formula"):
            is_formula = child.tag == "disp-formula"
            written = display_formula(child, changes) if is_formula else inline_text(child, changes, _INLINE)
            if text := _DOI.sub("", one_line(written)).strip():
                yield text
            for block in _floats(child):
                yield from _captioned(block, changes) if block.tag in _CAPTIONED else blocks(block, changes)
        elif child.tag not in _SKIPPED:
            yield from blocks(child, changes)


def _counter(changes: Changes | None) -> Changes:
    return Changes() if changes is None else changes


def _floats(element: ET.Element) -> Iterator[ET.Element]:
    """The outermost block elements (`_FLOATS`) inside an element."""
    for child in element:
        if child.tag in _FLOATS:
            yield child
        else:
            yield from _floats(child)


def _captioned(element: ET.Element, changes: Changes) -> Iterator[str]:
    """A figure or table as one block: a line with label and caption, one line per table row, notes.

    Yields nothing if the figure or table has no text.
    """
    head: list[str] = []
    lines: list[str] = []
    for child in _parts(element):
        if child.tag == "label":
            head.insert(0, one_line(inline_text(child, changes)))
        elif child.tag == "caption":
            head += blocks(child, changes)
        elif child.tag == "table":
            lines += table_lines(child, changes)
        elif child.tag not in _SKIPPED:
            lines += blocks(child, changes)
    if text := "\n".join(line for line in [" ".join(head), *lines] if line.strip(" |")):
        yield text


def _parts(element: ET.Element) -> Iterator[ET.Element]:
    """The children, and those of `alternatives`: a table, beside a picture of it."""
    for child in element:
        yield from child if child.tag == "alternatives" else (child,)


def table_lines(table: ET.Element, changes: Changes) -> Iterator[str]:
    """One line per row of a table, its cells separated by `|`."""
    for row in table.iter("tr"):
        yield " | ".join(one_line(inline_text(cell, changes)) for cell in row)
