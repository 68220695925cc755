"""Reads corpora: finds the folder, loads files and fields, and cleans texts. Errors name the file and the field."""

import gzip
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from judge_r1.core.errors import JudgeError
from judge_r1.files import tabular
from judge_r1.files.strict_json import BadJson, parse_json
from retrieval.words import count_words

T = TypeVar("T")
_LINE_END = re.compile("\r\n?|[\u2028\u2029\u0085]")
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\u200b]")


class SourceError(JudgeError):
    """A corpus is missing, or one of its files does not have the expected format. The message names file and field."""


def corpus_folder(path: Path | None, source: str, folder: str, needs: str) -> Path:
    """The corpus folder: `path`, or `path/folder` if `path` is the parent. `needs` is a file that it must hold."""
    if path is None:
        raise SourceError(f"source {source!r} reads a corpus from disk: give path=PATH, the folder that holds {needs}")
    for candidate in (path, path / folder):
        if (candidate / needs).exists():
            return candidate
    missing = f"{path / needs} does not exist" if path.is_dir() else f"{path} is not a folder"
    raise SourceError(
        f"source {source!r}: {missing}; path must be the corpus folder, or its parent with {folder}/ in it"
    )


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, decompressed if its name ends in .gz or .xz."""
    import lzma  # missing in some Python builds; only compressed corpora need it

    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            return gzip.decompress(data)
        return lzma.decompress(data) if path.suffix == ".xz" else data
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise SourceError(f"{path} cannot be read: {error}") from None


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object of a file."""
    try:
        data = parse_json(read_bytes(path), path)
    except BadJson as error:
        raise SourceError(str(error)) from None
    if not isinstance(data, dict):
        raise SourceError(f"{path} must hold a JSON object, not {type(data).__name__}")
    return data


def take(record: Any, keys: str, kind: type[T], where: str) -> T:
    """The value of type `kind` at a dotted path of keys. `where` (file, record) is the start of the error message."""
    value: Any = record
    for depth, key in enumerate(keys.split("."), 1):
        if not isinstance(value, dict) or key not in value:
            raise SourceError(f"{where}: field {'.'.join(keys.split('.')[:depth])} is missing")
        value = value[key]
    if not isinstance(value, kind):
        raise SourceError(f"{where}: field {keys} must be {kind.__name__}, not {type(value).__name__}")
    return value


def clean(text: str) -> str:
    """The text in NFC with \\n line ends, stripped, without control characters, invisible ones or lone surrogates."""
    if not text.replace("\n", "").isprintable():  # a printable text has nothing to remove
        text = _UNSEEN.sub("", _LINE_END.sub("\n", text))
    return unicodedata.normalize("NFC", text).strip()


def one_line(text: str) -> str:
    """The cleaned text with every run of white space as one space."""
    return " ".join(clean(text).split())


def numbered(steps: Iterable[str]) -> str:
    """The steps as numbered lines: `1. ...`, `2. ...`."""
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, 1))


def all_present(source: str, parts: Mapping[str, str], skipped: Counter[str]) -> bool:
    """Whether every part of a record has text. If not, the first empty one is counted in `skipped`."""
    empty = next((part for part, text in parts.items() if not text), None)
    if empty is not None:
        skipped[f"{source}: {empty} is empty"] += 1
    return empty is None


def contains_line(text: str, line: str) -> bool:
    """Whether a text contains a line, ignoring case, white space and a final full stop."""
    return one_line(line).rstrip(".").lower() in one_line(text).lower()


def words(text: str) -> int:
    """The number of words."""
    return count_words(text)


class CorpusRow(tabular.Row):
    """A row of a corpus's table: its texts are cleaned, and a null is an empty text."""

    @classmethod
    def of(cls, row: tabular.Row) -> "CorpusRow":
        return cls(row.file, row.number, row.where, row.split, row.values)

    def text(self, column: str) -> str:
        return "" if self.value(column) is None else clean(super().text(column))


def corpus_rows(path: Path | None, source: str, hub: str | None = None) -> Iterator[CorpusRow]:
    """The rows of `path`, or without one those of the corpus's own `hub` name. Raises: SourceError, BadTable."""
    if path is None and hub is None:
        raise SourceError(f"source {source!r} reads a corpus from disk: give path=PATH, its file or folder")
    return map(CorpusRow.of, tabular.rows(path if path is not None else Path(f"{tabular.HUB}{hub}")))
