"""Reads the documents of conversations: a table or a folder of texts, the cases of a built data set, or the builtin
cases."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from data_builders.sources import SOURCES
from judge_r1.core.conversations import Document
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.pair_set import CASES_FILE
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case
from judge_r1.core.tabular import SUFFIXES, Row, rows
from judge_r1.core.text_file import read_text

TEXT = ".txt"


def read_documents(path: Path | None, limit: int | None) -> Iterator[Document]:
    """The documents of `path`: a table with `id`, `context` and optionally `domain`, a folder with cases.jsonl (of a
    build from any corpus), a folder of texts (.txt, named by their files), or for None the builtin cases; at
    most `limit`.

    Raises:
        JudgeError: A row or a text is invalid, or two documents have one id and domain.
    """
    seen: set[str] = set()
    for document in islice(_documents(path), limit):
        if document.document_id in seen:
            raise JudgeError(f"{path}: two documents have the same id and domain: rename one of them")
        seen.add(document.document_id)
        yield document


def _documents(path: Path | None) -> Iterator[Document]:
    if path is None:
        yield from map(_of_case, SOURCES.get("builtin").read(None, None, 0, Counter()))
    elif (path / CASES_FILE).is_file():
        yield from map(_of_case, read_jsonl(path / CASES_FILE, Case, unique="case_id"))
    elif texts := _texts(path):
        yield from map(_of_text, texts)
    else:
        yield from map(_of_row, rows(path))


def _of_case(case: Case) -> Document:
    return Document(
        document_id=case.case_id, domain=case.domain, context=case.context, source=case.source, license=case.license
    )


def _texts(path: Path) -> list[Path]:
    """The texts of a folder without tables."""
    files = sorted(path.glob("*")) if path.is_dir() and not (path / "data").is_dir() else []
    return [] if any(file.name.endswith(SUFFIXES) for file in files) else [f for f in files if f.suffix == TEXT]


def _of_text(file: Path) -> Document:
    text = read_text(file)
    if not text.strip():
        raise JudgeError(f"{file} is empty: remove it, or write the text of a document into it")
    return Document(document_id=content_hash("general", file.name), domain="general", context=text, source=file.name)


def _of_row(row: Row) -> Document:
    domain = row.name("domain") if row.values.get("domain") else "general"
    text = row.text("context")
    if not text.strip():
        raise row.error("context", "must not be empty")
    source = f"{Path(row.file).name}/{row.name('id')}"
    return Document(document_id=content_hash(domain, row.name("id")), domain=domain, context=text, source=source)
