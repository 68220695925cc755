"""Reads the documents to manipulate: a folder of .txt and .md files, or stories made here."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from data_builders.manipulations.cleaning import cleaned_book, prepared
from data_builders.manipulations.stories import story
from judge_r1.core.documents import FULL, Document, document_id
from judge_r1.core.errors import JudgeError
from judge_r1.core.folders_below import lacks

SUFFIXES = (".txt", ".md")
STORIES = 12
STORY_TOKENS = 8_000
SHOWN = 10
"""Files that an error message names."""
_MOJIBAKE = ("â€", "Ã©", "Ã¨", "Ã¼", "ï¿½", "\ufffd")
"""Traces of a text that was decoded with the wrong encoding. Judges list them as spelling mistakes."""
MOST_BROKEN = 1
"""Such traces per 1,000 tokens that a document may have: its copies have them, too. One trace never leaves it out."""


class CorpusRules(NamedTuple):
    """`clean` applies the steps for books. Documents outside of `min_tokens` to `max_tokens` are left out."""

    clean: bool = False
    min_tokens: int = 1
    max_tokens: int = 1_000_000
    license: str = "unknown"


def full_document(title: str, text: str, *, source: str, license: str) -> Document:
    """The record of a document at its full length."""
    identity = document_id(text, FULL)
    return Document(
        schema=1, document_id=identity, base_id=identity, length=FULL, title=title, text=text, source=source,
        license=license,
    )  # fmt: skip


def shorter(document: Document, text: str, tokens: int) -> Document:
    """The record of the prefix `text` of a document."""
    length = str(tokens)
    return document.model_copy(update={"document_id": document_id(text, length), "length": length, "text": text})


def stories(count: int, tokens: int, seed: int) -> Iterator[Document]:
    """Documents made from templates."""
    for number in range(count):
        title, text = story(number, tokens, seed)
        yield full_document(title, text, source="cofluence/stories", license="Apache-2.0")


def read_folder(path: Path, rules: CorpusRules, skipped: Counter[str]) -> Iterator[Document]:
    """The documents of a folder and the folders in it, in the order of their names.

    Raises: JudgeError if there are no files, or some are not UTF-8.
    """
    files = sorted(file for file in path.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise JudgeError(f"{lacks(path, ' or '.join(SUFFIXES) + ' file')}: give --path a folder of long texts")
    if bad := [(file, at) for file in files if (at := _not_utf8(file)) is not None]:
        raise JudgeError(
            f"{bad[0][0]} is not UTF-8 (byte {bad[0][1]}): convert it, for example with `iconv -f WINDOWS-1252 -t "
            f"UTF-8`. Files of this kind: {', '.join(file.name for file, _ in bad[:SHOWN])} ({len(bad)})"
        )
    for file in files:
        raw = _bytes(file).decode("utf-8")
        text = cleaned_book(raw) if rules.clean else prepared(raw)
        tokens = len(text.split())
        if not tokens:
            skipped["empty"] += 1
        elif tokens < rules.min_tokens:
            skipped[f"fewer than {rules.min_tokens} tokens"] += 1
        elif tokens > rules.max_tokens:
            skipped[f"more than {rules.max_tokens} tokens"] += 1
        elif (broken := sum(map(text.count, _MOJIBAKE))) > max(1, MOST_BROKEN * tokens / 1000):
            skipped["wrongly decoded characters"] += 1
        else:
            title = str(file.relative_to(path).with_suffix(""))
            document = full_document(title, text, source=f"cofluence/{path.name}", license=rules.license)
            yield document.model_copy(update={"meta": {"broken_characters": broken}}) if broken else document


def _not_utf8(file: Path) -> int | None:
    """The position of the first byte that is not UTF-8."""
    try:
        _bytes(file).decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise JudgeError(f"{file} cannot be read: {error.strerror}") from None
