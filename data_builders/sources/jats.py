"""Converts journal articles in JATS XML to plain text, without reviews, replies and references.

A block is a section title, a paragraph, a figure or table (label, caption, one line per row with cells separated by
`|`) or a formula. Figures inside a paragraph follow the paragraph's text.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from data_builders.sources.corpus_io import SourceError, one_line, read_bytes

HREF = "{http://www.w3.org/1999/xlink}href"
_CAPTIONED = ("fig", "table-wrap", "supplementary-material", "media")
_FLOATS = (*_CAPTIONED, "fig-group", "boxed-text", "disp-quote", "list")
_LEFT_OUT = ("object-id", "graphic", "permissions", "attrib")
_DOI = re.compile(r"DOI: ?(?:https?://\S+|10\.\S+)")


def read_article(path: Path) -> ET.Element:
    """The root of an article's file (.xml, .xml.gz). Raises: SourceError, which names the file."""
    try:
        root = ET.fromstring(read_bytes(path))
    except ET.ParseError as error:
        raise SourceError(f"{path} is not valid XML: {error}") from None
    if root.tag != "article":
        raise SourceError(f"{path} is not a JATS article: its root is <{root.tag}>, not <article>")
    return root


def article_text(root: ET.Element) -> str:
    """Title, abstract and body, without the rest of the front matter (editors' digests and assessments) and all other
    elements (references, decision letters, replies)."""
    meta = root.find("front/article-meta")
    parts = [title_of(root)]
    if meta is not None:
        for abstract in meta.findall("abstract"):
            if abstract.get("abstract-type") is None:
                parts += ["Abstract", *blocks(abstract)]
    body = root.find("body")
    return "\n\n".join(part for part in [*parts, *(blocks(body) if body is not None else ())] if part)


def title_of(root: ET.Element) -> str:
    title = root.find("front/article-meta/title-group/article-title")
    return "" if title is None else one_line("".join(title.itertext()))


def blocks(element: ET.Element) -> Iterator[str]:
    """The non-empty blocks below an element."""
    for child in element:
        if child.tag in _CAPTIONED:
            yield from _captioned(child)
        elif child.tag in ("p", "title", "label", "disp-formula"):
            if text := _DOI.sub("", one_line("".join(_own_words(child)))).strip():
                yield text
            for float_ in _floats(child):
                yield from _captioned(float_) if float_.tag in _CAPTIONED else blocks(float_)
        elif child.tag not in _LEFT_OUT:
            yield from blocks(child)


def _own_words(element: ET.Element) -> Iterator[str]:
    """The text of an element without its floats."""
    yield element.text or ""
    for child in element:
        if child.tag not in (*_FLOATS, *_LEFT_OUT):
            yield from _own_words(child)
        yield child.tail or ""


def _floats(element: ET.Element) -> Iterator[ET.Element]:
    """The outermost floats below an element."""
    for child in element:
        if child.tag in _FLOATS:
            yield child
        else:
            yield from _floats(child)


def _captioned(element: ET.Element) -> Iterator[str]:
    """A figure or table as one block: a line with label and caption, one line per row, notes."""
    head: list[str] = []
    lines: list[str] = []
    for child in element:
        if child.tag == "label":
            head.insert(0, one_line("".join(child.itertext())))
        elif child.tag == "caption":
            head += blocks(child)
        elif child.tag == "table":
            lines += (" | ".join(one_line("".join(cell.itertext())) for cell in row) for row in child.iter("tr"))
        elif child.tag not in _LEFT_OUT:
            lines += blocks(child)
    if text := "\n".join(line for line in [" ".join(head), *lines] if line.strip(" |")):
        yield text
