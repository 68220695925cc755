"""Tables: JSON Lines, JSON, CSV or parquet files, or a data set of the hub, row by row.

    for found in rows(path, splits=("test",)):
        print(found.where, found.values)

`path` is a file, a folder, or `hub:OWNER/NAME`. Of a folder its `data` folder is read where that holds tables, and the
folder itself otherwise, files in the order of their names, hub splits likewise. No more than one batch of rows is in
memory, but for .json files, which are one value each. Every mistake names the file and the line or row.
"""

import csv
import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import suggest

HUB = "hub:"
LINES = (".jsonl", ".jsonl.gz")
SUFFIXES = (*LINES, ".json", ".csv", ".parquet")
_SHARD = re.compile(r"-\d{5}-of-\d{5}.*")
BATCH = 64


class BadTable(JudgeError):
    """A table that is not there or cannot be read, or a row of it that is none; the message says where."""


class Found(NamedTuple):
    """One row: `file` (of the hub: name and split) and its `number` in it, from 1, `where` both in words (of JSON Lines
    with the number of the line), `split` the part of the data set that it belongs to, which the file's name tells."""

    file: str
    number: int
    where: str
    split: str
    values: Mapping[str, Any]


def rows(path: Path, splits: Sequence[str] = ()) -> Iterator[Found]:
    """The rows of `path`; of a folder or a hub name those of `splits` alone, where any are given. Errors: BadTable,
    also where there is no row at all."""
    empty = True
    for found in _hub(str(path)[len(HUB) :], splits) if str(path).startswith(HUB) else _local(path, splits):
        empty = False
        yield found
    if empty:
        raise BadTable(f"{path} holds no rows")


def file_rows(file: Path) -> Iterator[Found]:
    """The rows of one file, read by its ending."""
    readers = {".json": _json, ".csv": _csv, ".parquet": _parquet, "": _unknown}
    try:
        for number, (place, values) in enumerate(readers.get(_suffix(file), _json_lines)(file), 1):
            where = f"{file}, {place}"
            if not isinstance(values, dict):
                raise BadTable(f"{where}: must be an object of columns, not {type(values).__name__}")
            yield Found(str(file), number, where, _split(file), values)
    except (OSError, EOFError, zlib.error) as error:
        raise BadTable(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def is_missing(column: str, values: Mapping[str, Any]) -> str:
    """What to say of a column that a row has not: the nearest name, and what there is."""
    near = suggest(column, values)
    hint = near if near.startswith("; did you mean") else ""
    return f"is missing{hint}; {columns_of(values)}"


def columns_of(values: Mapping[str, Any]) -> str:
    return f"the columns are: {', '.join(map(str, values)) or 'none'}"


def _local(path: Path, splits: Sequence[str]) -> Iterator[Found]:
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
        raise BadTable(f"{path} holds no table called {' or '.join(splits)}; there is: {there}")
    for file in wanted:
        yield from file_rows(file)


def _tables(folder: Path) -> dict[Path, str]:
    """The tables of a folder by name, each with its split."""
    if not folder.is_dir():
        return {}
    files = sorted(file for file in folder.iterdir() if file.name.endswith(SUFFIXES) and file.is_file())
    return {file: _split(file) for file in files}


def _suffix(file: Path) -> str:
    return next((suffix for suffix in SUFFIXES if file.name.endswith(suffix)), "")


def _split(file: Path) -> str:
    """A file's name without its ending and the number of its shard."""
    return _SHARD.sub("", file.name.removesuffix(_suffix(file)))


def _json_lines(file: Path) -> Iterator[tuple[str, Any]]:
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield f"line {number}", json.loads(line)
                except ValueError as error:
                    raise BadTable(f"{file}, line {number} is not valid JSON: {error}") from None


def _json(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        data = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadTable(f"{file} is not valid JSON: {error}") from None
    if not isinstance(data, list):
        raise BadTable(f"{file} must hold a list of rows, not {type(data).__name__}")
    for number, values in enumerate(data, 1):
        yield f"row {number}", values


def _csv(file: Path) -> Iterator[tuple[str, Any]]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))  # papers are longer than the 128 KiB that csv allows by itself
    try:
        with file.open(encoding="utf-8-sig", newline="") as lines:
            for number, values in enumerate(csv.DictReader(lines, strict=True), 1):
                if None in values or None in values.values():
                    raise BadTable(f"{file}, row {number}: has more or fewer values than the header has columns")
                yield f"row {number}", values
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadTable(f"{file} is not a CSV table in UTF-8: {error}") from None


def _parquet(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadTable(f"{file}: reading parquet needs pyarrow: pip install 'judge-r1[train]'") from None
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            batches = table.iter_batches(batch_size=BATCH)
            for number, values in enumerate((values for batch in batches for values in batch.to_pylist()), 1):
                yield f"row {number}", values
    except pyarrow.ArrowException as error:
        raise BadTable(f"{file} is not a parquet table: {' '.join(str(error).split())}") from None


def _unknown(file: Path) -> Iterator[tuple[str, Any]]:
    raise BadTable(f"{file} is no table: its name must end in {', '.join(SUFFIXES)}")


def _hub(name: str, splits: Sequence[str]) -> Iterator[Found]:
    """The rows of a data set that `datasets.load_dataset` finds, split by split, streamed."""
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
            raise BadTable(f"hub:{name} has no split {' or '.join(splits)}; there is: {', '.join(sorted(found))}")
        for split in wanted:
            file = f"{HUB}{name}, split {split}"
            for number, values in enumerate(found[split], 1):
                yield Found(file, number, f"{file}, row {number}", split, values)
    except (OSError, ValueError) as error:
        raise BadTable(
            f"{name} could not be read from the hub ({' '.join(str(error).split())}): give --path with its files"
        ) from None
