"""Reads tables row by row: JSON Lines, JSON, CSV or parquet files, or a data set of the Hugging Face hub.

    for row in rows(path, splits=("test",)):
        prompt = row.text("prompt")

`path` is a file, a folder, or `hub:OWNER/NAME`. A folder is read in the order of its file names; if it has a subfolder
`data` with tables, that one is read. At most one batch of rows is in memory, except for .json files, which are one
value each. Every error names the file, the line or row, and the column.
"""

import csv
import gzip
import re
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest
from judge_r1.files.strict_json import BadJson, parse_json

HUB = "hub:"
LINES = (".jsonl", ".jsonl.gz")
TEXTS = (*LINES, ".json", ".csv", ".csv.gz")
SUFFIXES = (*TEXTS, ".parquet")
"""A table of parquet may have no rows, as a shard of a split. An empty text is a damaged one."""
_SHARD = re.compile(r"-\d{5}-of-\d{5}.*")
BATCH = 64


class BadTable(JudgeError):
    """A table that is missing or unreadable, or a row with a wrong value. The message says where."""


@dataclass(frozen=True)
class Row:
    """One row. `file` is its file (of the hub: name and split), `number` its position there, from 1, and `where` both
    as text for messages (JSON Lines: with the line number). `split` is the file's name without shard number."""

    file: str
    number: int
    where: str
    split: str
    values: Mapping[str, Any]

    def value(self, column: str) -> Any:
        """The value of a column. Raises: BadTable if the row has no such column."""
        if column not in self.values:
            raise self.missing(column)
        return self.values[column]

    def text(self, column: str) -> str:
        return str(self._typed(column, str, "text"))

    def label(self, column: str) -> str:
        """A text or a whole number, as text."""
        value = self.value(column)
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(column)

    def name(self, column: str) -> str:
        """A label that is not empty."""
        if not (found := self.label(column)).strip():
            raise self.error(column, "must not be empty")
        return found

    def integer(self, column: str) -> int:
        value = self._typed(column, int, "a whole number")
        if isinstance(value, bool):
            raise self.error(column, "must hold a whole number, not true or false")
        return int(value)

    def bounded(self, column: str, value: Any, most: float) -> float:
        """A value of a column as a number in [0, most]; it may be text. Raises: BadTable."""
        try:
            number = -1.0 if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = -1.0
        if not 0 <= number <= most:
            raise self.error(column, f"holds {str(value)[:40]!r}, and must hold numbers from 0 to {most:g}")
        return number

    def texts(self, column: str) -> list[str]:
        values = self._typed(column, list, "a list of texts")
        if not all(isinstance(value, str) for value in values):
            raise self.error(column, "must hold a list of texts")
        return list(values)

    def one_of(self, column: str, meanings: Mapping[str, str]) -> str:
        """The meaning of a column's label. Raises: BadTable for a label without one."""
        label = self.name(column)
        if label not in meanings:
            raise self.error(column, f"must be one of {', '.join(meanings)}, not {label[:80]!r}")
        return meanings[label]

    def error(self, column: str, problem: str) -> BadTable:
        """The error to raise for a column."""
        return BadTable(f"{self.where}: column {column!r} {problem}")

    def missing(self, column: str) -> BadTable:
        near = suggest(column, self.values)
        hint = f"{near} The" if near.startswith("; did you mean") else "; the"
        return self.error(column, f"is missing{hint} {self._columns}")

    def wrong_type(self, column: str, wanted: str) -> BadTable:
        return self.error(column, f"must hold {wanted}, not {type(self.values[column]).__name__}; the {self._columns}")

    @property
    def _columns(self) -> str:
        return f"columns are: {', '.join(map(str, self.values)) or 'none'}"

    def _typed(self, column: str, kind: type, wanted: str) -> Any:
        value = self.value(column)
        if not isinstance(value, kind):
            raise self.wrong_type(column, wanted)
        return value


def rows(path: Path, splits: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of `path`, restricted to `splits` of a folder or hub name. Raises: BadTable, also if there are none."""
    empty = True
    for row in _hub(str(path)[len(HUB) :], splits) if str(path).startswith(HUB) else _local(path, splits):
        empty = False
        yield row
    if empty:
        raise BadTable(f"{path} has no rows")


def file_rows(file: Path) -> Iterator[Row]:
    """The rows of one file; its ending says how it is read. Raises: BadTable."""
    readers = {".json": _json, ".csv": _csv, ".csv.gz": _csv, ".parquet": _parquet, "": _unknown}
    try:
        for number, (position, values) in enumerate(readers.get(_suffix(file), _json_lines)(file), 1):
            where = f"{file}, {position}"
            if not isinstance(values, dict):
                raise BadTable(f"{where}: must be an object of columns, not {type(values).__name__}")
            yield Row(str(file), number, where, _split(file), values)
    except (OSError, EOFError, zlib.error) as error:
        raise BadTable(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def first_file(path: Path, *names: str) -> Path:
    """`path` itself if it is a file, or the first of `names` below it that exists. Raises: BadTable."""
    if path.is_file():
        return path
    for name in names:
        if (path / name).is_file():
            return path / name
    raise BadTable(f"{path} must be a file, or a folder that holds {' or '.join(names)}")


def _local(path: Path, splits: Sequence[str]) -> Iterator[Row]:
    if path.is_file():
        yield from file_rows(path)
        return
    if not path.is_dir():
        raise BadTable(f"{path} does not exist: it must be a file, a folder of tables, or hub:OWNER/NAME")
    files = _tables(path / "data") or _tables(path)
    if not files:
        raise BadTable(f"{path} holds no table: expected {', '.join(SUFFIXES)}")
    wanted = {file: split for file, split in files.items() if not splits or split in splits}
    if not wanted:
        there = ", ".join(dict.fromkeys(files.values()))
        raise BadTable(f"{path} has no table named {' or '.join(splits)}; available: {there}")
    for file in wanted:
        empty = True
        for row in file_rows(file):
            empty = False
            yield row
        if empty and _suffix(file) in TEXTS:
            raise BadTable(f"{file} has no rows: remove the file, or copy it again")


def _tables(folder: Path) -> dict[Path, str]:
    """The tables of a folder in name order, with the split of each. A folder or a broken link with such a name is an
    error when it is read."""
    if not folder.is_dir():
        return {}
    return {file: _split(file) for file in sorted(folder.iterdir()) if file.name.endswith(SUFFIXES)}


def _suffix(file: Path) -> str:
    return next((suffix for suffix in SUFFIXES if file.name.endswith(suffix)), "")


def _split(file: Path) -> str:
    """The file name without its ending and shard number."""
    return _SHARD.sub("", file.name.removesuffix(_suffix(file)))


def _json_lines(file: Path) -> Iterator[tuple[str, Any]]:
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                line = line.removeprefix(BOM_UTF8) if number == 1 else line
                yield f"line {number}", _value(line, f"{file}, line {number}")


def _json(file: Path) -> Iterator[tuple[str, Any]]:
    data = _value(file.read_bytes().removeprefix(BOM_UTF8), file)
    if not isinstance(data, list):
        raise BadTable(f"{file} must hold a list of rows, not {type(data).__name__}")
    for number, values in enumerate(data, 1):
        yield f"row {number}", values


def _value(text: bytes, where: object) -> Any:
    try:
        return parse_json(text, where)
    except BadJson as error:
        raise BadTable(str(error)) from None


def _csv(file: Path) -> Iterator[tuple[str, Any]]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # the default of 128 KiB is too small for papers
    try:
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8-sig", newline="") as lines:
            table = csv.DictReader(lines, strict=True, delimiter=_delimiter(lines))
            _check_header(file, table.fieldnames or [])
            for number, values in enumerate(table, 1):
                if None in values or None in values.values():
                    raise BadTable(f"{file}, row {number}: has more or fewer values than the header has columns")
                yield f"row {number}", values
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadTable(f"{file} is not a CSV table in UTF-8 (save it as CSV UTF-8): {error}") from None


def _delimiter(lines: TextIO) -> str:
    """The sign between the columns: the commonest of comma, semicolon and tab in the header by which the first row has
    as many values. Tables have semicolons where a comma is the decimal sign. A line `sep=;` before the header, for a
    spreadsheet, is skipped."""
    header = lines.readline()
    if named := re.fullmatch(r"sep=([,;\t])\s*", header):
        return named[1]
    row = lines.readline()
    lines.seek(0)
    signs = sorted(",;\t", key=re.sub(r'"[^"]*"', "", header).count, reverse=True)
    columns = {sign: [len(values) for values in csv.reader([header, row], delimiter=sign)] for sign in signs}
    return next((sign for sign in signs if columns[sign][0] > 1 and len({*columns[sign]}) == 1), signs[0])


def _check_header(file: Path, columns: Sequence[str]) -> None:
    if repeated := [name for name in dict.fromkeys(columns) if columns.count(name) > 1]:
        raise BadTable(f"{file} has {columns.count(repeated[0])} columns named {repeated[0]!r}: rename or remove one")


def _parquet(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadTable(f"{file}: reading parquet needs pyarrow: pip install 'judge-r1[train]'") from None
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            _check_header(file, table.schema_arrow.names)
            batches = table.iter_batches(batch_size=BATCH)
            for number, values in enumerate((values for batch in batches for values in batch.to_pylist()), 1):
                yield f"row {number}", values
    except pyarrow.ArrowException as error:
        raise BadTable(f"{file} is not a parquet table: {' '.join(str(error).split())}") from None


def _unknown(file: Path) -> Iterator[tuple[str, Any]]:
    raise BadTable(f"{file} is not a table: its name must end in {', '.join(SUFFIXES)}")


def _hub(name: str, splits: Sequence[str]) -> Iterator[Row]:
    """Streams the rows of a data set of the hub, split by split."""
    try:
        from datasets import load_dataset
    except ImportError:
        raise BadTable(
            f"reading {name} from the hub needs the package datasets: pip install 'judge-r1[train]'"
        ) from None
    try:
        found = load_dataset(name, streaming=True)
        wanted = [split for split in sorted(found) if not splits or split in splits]
        if not wanted:
            raise BadTable(f"hub:{name} has no split {' or '.join(splits)}; available: {', '.join(sorted(found))}")
        for split in wanted:
            file = f"{HUB}{name}, split {split}"
            for number, values in enumerate(found[split], 1):
                yield Row(file, number, f"{file}, row {number}", split, values)
    except (OSError, ValueError) as error:
        raise BadTable(
            f"{name} could not be read from the hub ({' '.join(str(error).split())}): give --path with its files"
        ) from None
