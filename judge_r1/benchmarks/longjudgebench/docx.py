"""The text of a .docx file: WordprocessingML in a zip, read with the standard library."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from judge_r1.benchmarks.base import BadBenchmark

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LARGEST = 256 * 2**20
"""Bytes of the unpacked document; a report has a few hundred thousand."""


def docx_text(path: Path, *, tables: bool = False) -> str:
    """The paragraphs of the body, one a line, as the release reads them; with `tables` also each table where it stands,
    one row a line and its cells parted by ` | `. Errors: BadBenchmark."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo("word/document.xml").file_size > _LARGEST:
                raise BadBenchmark(f"{path}: its document is larger than {_LARGEST} bytes")
            data = archive.read("word/document.xml")
        if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
            raise BadBenchmark(f"{path}: its document declares entities, which no word processor writes")
        body = ElementTree.fromstring(data).find(f"{_W}body")
    except (OSError, KeyError, zipfile.BadZipFile, ElementTree.ParseError) as error:
        raise BadBenchmark(f"{path} is not a .docx file ({error}): fetch it again") from None
    if body is None:
        raise BadBenchmark(f"{path} has no body: fetch it again")
    return "\n".join(_blocks(body, tables))


def _blocks(parent: ElementTree.Element, tables: bool) -> Iterator[str]:
    for block in parent:
        if block.tag == f"{_W}p":
            yield _text(block)
        elif block.tag == f"{_W}tbl" and tables:
            for row in block.iter(f"{_W}tr"):
                cells = row.findall(f"{_W}tc")
                yield " | ".join(" ".join(_text(p) for p in cell.iter(f"{_W}p")).strip() for cell in cells)


def _text(paragraph: ElementTree.Element) -> str:
    """Of its runs and of those in its links; breaks and tabs as such. Text boxes stand elsewhere, and not in it."""
    runs = [r for part in paragraph for r in ([part] if part.tag == f"{_W}r" else _linked(part))]
    return "".join(_said(part) for run in runs for part in run)


def _linked(part: ElementTree.Element) -> list[ElementTree.Element]:
    return part.findall(f"{_W}r") if part.tag == f"{_W}hyperlink" else []


def _said(part: ElementTree.Element) -> str:
    if part.tag == f"{_W}t":
        return part.text or ""
    if part.tag == f"{_W}br":
        return "\n" if part.get(f"{_W}type", "textWrapping") == "textWrapping" else ""
    return {f"{_W}tab": "\t", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}.get(part.tag, "")
