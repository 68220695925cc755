"""Tables of records: JSON Lines, JSON, CSV or parquet files, or a data set of the hub, row by row.

    for row in rows(path, "medcasereasoning", hub="zou-lab/MedCaseReasoning"):
        prompt = row.text("case_prompt")

`path` is a file, a folder of files, or `hub:OWNER/NAME`; without one the corpus's own place on the hub is read. Files
come in the order of their names, hub splits likewise, and no more than one batch of rows is in memory, but for .json
files, which are one value each. Every mistake names the file, the row, the column, and what columns there are.
"""

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.sources.errors import SourceError
from data_builders.sources.reading import clean
from judge_r1.registry import suggest

HUB = "hub:"
SUFFIXES = (".jsonl", ".json", ".csv", ".parquet")
BATCH = 64


@dataclass(frozen=True)
class Row:
    """One row: `file` and `number` (from 1) say where it stands, `values` holds its columns."""

    file: str
    number: int
    values: Mapping[str, Any]

    @property
    def where(self) -> str:
        return f"{self.file}, row {self.number}"

    def value(self, column: str) -> Any:
        """What stands in a column. Errors: SourceError where the row has no such column."""
        if column not in self.values:
            raise self.missing(column)
        return self.values[column]

    def text(self, column: str) -> str:
        """A column's text, cleaned; a null is an empty text. Errors: SourceError where it holds anything else."""
        value = self.value(column)
        if value is not None and not isinstance(value, str):
            raise self.mistyped(column, "text")
        return clean(value or "")

    def name(self, column: str) -> str:
        """A column that names something (an id, a group): text or a whole number. Errors: as `text`."""
        value = self.value(column)
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(column)

    def missing(self, column: str) -> SourceError:
        near = suggest(column, self.values)
        hint = near if near.startswith("; did you mean") else ""
        return SourceError(f"{self.where}: column {column!r} is missing{hint}; {self._columns}")

    def mistyped(self, column: str, wanted: str) -> SourceError:
        return SourceError(
            f"{self.where}: column {column!r} must hold {wanted}, not {type(self.values[column]).__name__}; "
            f"{self._columns}"
        )

    @property
    def _columns(self) -> str:
        return f"the columns are: {', '.join(map(str, self.values)) or 'none'}"


def rows(path: Path | None, source: str, hub: str | None) -> Iterator[Row]:
    """The rows of `path`, or of the corpus's own `hub` name without one. Errors: SourceError."""
    if path is None:
        if hub is None:
            raise SourceError(f"source {source!r} reads a corpus from disk: give --path, its file or folder")
        yield from hub_rows(hub, source)
    elif str(path).startswith(HUB):
        yield from hub_rows(str(path)[len(HUB) :], source)
    else:
        empty = True
        for file in table_files(path, source):
            for row in file_rows(file):
                empty = False
                yield row
        if empty:
            raise SourceError(f"{path} holds no rows")


def table_files(path: Path, source: str) -> list[Path]:
    """`path` itself, or the tables in the folder, by name."""
    if path.is_file():
        files = [path]
    elif path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES and file.is_file())
    else:
        raise SourceError(
            f"source {source!r}: {path} does not exist; --path must be a file, a folder of files, or hub:OWNER/NAME"
        )
    if not files or files[0].suffix not in SUFFIXES:
        raise SourceError(f"source {source!r}: {path} holds no table: expected {', '.join(SUFFIXES)}")
    return files


def file_rows(file: Path) -> Iterator[Row]:
    """The rows of one file, read by its ending."""
    readers = {".jsonl": _json_lines, ".json": _json, ".csv": _csv, ".parquet": _parquet}
    try:
        for number, values in enumerate(readers[file.suffix](file), 1):
            if not isinstance(values, dict):
                raise SourceError(f"{file}, row {number}: must be an object of columns, not {type(values).__name__}")
            yield Row(str(file), number, values)
    except OSError as error:
        raise SourceError(f"{file} cannot be read: {error.strerror or error}") from None


def _json_lines(file: Path) -> Iterator[Any]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise SourceError(f"{file}, line {number} is not valid JSON: {error}") from None


def _json(file: Path) -> Iterator[Any]:
    try:
        data = json.loads(file.read_bytes())
    except ValueError as error:
        raise SourceError(f"{file} is not valid JSON: {error}") from None
    if not isinstance(data, list):
        raise SourceError(f"{file} must hold a list of rows, not {type(data).__name__}")
    yield from data


def _csv(file: Path) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # papers are longer than the 128 KiB that csv allows by itself
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            for number, values in enumerate(csv.DictReader(lines, strict=True), 1):
                if None in values or None in values.values():
                    raise SourceError(f"{file}, row {number}: has more or fewer values than the header has columns")
                yield values
    except (csv.Error, UnicodeDecodeError) as error:
        raise SourceError(f"{file} is not a CSV table in UTF-8: {error}") from None


def _parquet(file: Path) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise SourceError(f"{file}: reading parquet needs pyarrow: pip install 'judge-r1[train]'") from None
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(batch_size=BATCH):
                yield from batch.to_pylist()
    except pyarrow.ArrowException as error:
        raise SourceError(f"{file} is not a parquet table: {' '.join(str(error).split())}") from None


def hub_rows(name: str, source: str) -> Iterator[Row]:
    """The rows of a data set that `datasets.load_dataset` finds, split by split, streamed."""
    try:
        from datasets import load_dataset
    except ImportError:
        raise SourceError(
            f"source {source!r}: reading {name} from the hub needs the package datasets: pip install 'judge-r1[train]'"
        ) from None
    try:
        splits = load_dataset(name, streaming=True)
        for split in sorted(splits):
            for number, values in enumerate(splits[split], 1):
                yield Row(f"hub:{name}, split {split}", number, values)
    except (OSError, ValueError) as error:
        raise SourceError(
            f"source {source!r}: {name} could not be read from the hub ({' '.join(str(error).split())}): "
            "give --path with its files"
        ) from None
