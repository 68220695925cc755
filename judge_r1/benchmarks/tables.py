"""The tables that benchmarks come in: JSON Lines, JSON or parquet files, or a data set of the hub, row by row.

    for row in rows(path, splits=("filtered",)):
        prompt = row.text("prompt")

`path` is a file, a folder, or `hub:OWNER/NAME`. Of a folder its `data` folder is read where that holds tables, and the
folder itself otherwise, files in the order of their names. Every mistake names the file, the row and the column.
"""

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_r1.benchmarks import BadBenchmark
from judge_r1.registry import suggest

HUB = "hub:"
LINES = (".jsonl", ".jsonl.gz")
SUFFIXES = (*LINES, ".json", ".parquet")
_SHARD = re.compile(r"-\d{5}-of-\d{5}.*")
BATCH = 64


@dataclass(frozen=True)
class Row:
    """One row: `where` is its file and its line (of other tables: its row, from 1), `split` the part of the data set
    that it belongs to, which the file's name tells."""

    where: str
    split: str
    values: Mapping[str, Any]

    def value(self, column: str) -> Any:
        """What stands in a column. Errors: BadBenchmark where the row has none of that name."""
        if column not in self.values:
            near = suggest(column, self.values)
            hint = near if near.startswith("; did you mean") else ""
            raise self.bad(column, f"is missing{hint}; there is: {', '.join(map(str, self.values)) or 'nothing'}")
        return self.values[column]

    def text(self, column: str) -> str:
        """A column's text, as it stands there."""
        return str(self._of(column, str, "text"))

    def name(self, column: str) -> str:
        """A column that names something: text that is not empty, or a whole number."""
        value = self.value(column)
        found = str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(column)
        if not found.strip():
            raise self.bad(column, "must not be empty")
        return found

    def number(self, column: str) -> int:
        value = self._of(column, int, "a whole number")
        if isinstance(value, bool):
            raise self.bad(column, "must hold a whole number, not true or false")
        return int(value)

    def texts(self, column: str) -> list[str]:
        values = self._of(column, list, "a list of texts")
        if not all(isinstance(value, str) for value in values):
            raise self.bad(column, "must hold a list of texts")
        return list(values)

    def one_of(self, column: str, meanings: Mapping[str, str]) -> str:
        """What a column's word (or number) means. Errors: BadBenchmark for a word without a meaning."""
        word = self.name(column)
        if word not in meanings:
            raise self.bad(column, f"must be one of {', '.join(meanings)}, not {word[:80]!r}")
        return meanings[word]

    def bad(self, column: str, why: str) -> BadBenchmark:
        """The error to raise for a column."""
        return BadBenchmark(f"{self.where}: {column!r} {why}")

    def _of(self, column: str, kind: type, wanted: str) -> Any:
        value = self.value(column)
        if not isinstance(value, kind):
            raise self.bad(column, f"must hold {wanted}, not {type(value).__name__}")
        return value


def rows(path: Path, splits: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of `path`; of a folder or a hub name those of `splits` alone, where any are given. Errors: BadBenchmark,
    also where there is no row at all."""
    empty = True
    for row in _hub(str(path)[len(HUB) :], splits) if str(path).startswith(HUB) else _local(path, splits):
        empty = False
        yield row
    if empty:
        raise BadBenchmark(f"{path} holds no rows")


def one_file(path: Path, *places: str) -> Path:
    """`path` itself, or the first of `places` below it that exists. Errors: BadBenchmark."""
    if path.is_file():
        return path
    for place in places:
        if (path / place).is_file():
            return path / place
    raise BadBenchmark(f"{path} must be a file, or a folder that holds {' or '.join(places)}")


def objects(path: Path) -> Iterator[Row]:
    """The rows of one file, read by its ending."""
    suffix = _suffix(path)
    readers = {".json": _json, ".parquet": _parquet, "": _unknown}
    try:
        for place, values in readers.get(suffix, _json_lines)(path):
            if not isinstance(values, dict):
                raise BadBenchmark(f"{path}, {place}: must be an object of columns, not {type(values).__name__}")
            yield Row(f"{path}, {place}", _split(path), values)
    except (OSError, EOFError, zlib.error) as error:
        raise BadBenchmark(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _local(path: Path, splits: Sequence[str]) -> Iterator[Row]:
    if path.is_file():
        yield from objects(path)
        return
    if not path.is_dir():
        raise BadBenchmark(f"{path} does not exist: it must be a file, a folder of tables, or hub:OWNER/NAME")
    files = _tables(path / "data") or _tables(path)
    if not files:
        raise BadBenchmark(f"{path} holds no table: expected {', '.join(SUFFIXES)}")
    wanted = {file: split for file, split in files.items() if not splits or split in splits}
    if not wanted:
        there = ", ".join(dict.fromkeys(files.values()))
        raise BadBenchmark(f"{path} holds no table called {' or '.join(splits)}; there is: {there}")
    for file in wanted:
        yield from objects(file)


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
                    raise BadBenchmark(f"{file}, line {number} is not valid JSON: {error}") from None


def _json(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        data = json.loads(file.read_bytes())
    except ValueError as error:
        raise BadBenchmark(f"{file} is not valid JSON: {error}") from None
    if not isinstance(data, list):
        raise BadBenchmark(f"{file} must hold a list of rows, not {type(data).__name__}")
    for number, values in enumerate(data, 1):
        yield f"row {number}", values


def _parquet(file: Path) -> Iterator[tuple[str, Any]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise BadBenchmark(f"{file}: reading parquet needs pyarrow: pip install 'judge-r1[train]'") from None
    number = 0
    try:
        with pyarrow.parquet.ParquetFile(file) as table:
            for batch in table.iter_batches(batch_size=BATCH):
                for values in batch.to_pylist():
                    number += 1
                    yield f"row {number}", values
    except pyarrow.ArrowException as error:
        raise BadBenchmark(f"{file} is not a parquet table: {' '.join(str(error).split())}") from None


def _unknown(file: Path) -> Iterator[tuple[str, Any]]:
    raise BadBenchmark(f"{file} is no table: its name must end in {', '.join(SUFFIXES)}")


def _hub(name: str, splits: Sequence[str]) -> Iterator[Row]:
    """The rows of a data set that `datasets.load_dataset` finds, split by split, streamed."""
    try:
        from datasets import load_dataset
    except ImportError:
        raise BadBenchmark(
            f"reading {name} from the hub needs the package datasets: pip install 'judge-r1[train]'"
        ) from None
    try:
        found = load_dataset(name, streaming=True)
        wanted = [split for split in sorted(found) if not splits or split in splits]
        if not wanted:
            raise BadBenchmark(f"hub:{name} has no split {' or '.join(splits)}; there is: {', '.join(sorted(found))}")
        for split in wanted:
            for number, values in enumerate(found[split], 1):
                yield Row(f"hub:{name}, split {split}, row {number}", split, values)
    except (OSError, ValueError) as error:
        raise BadBenchmark(
            f"{name} could not be read from the hub ({' '.join(str(error).split())}): give --path with its files"
        ) from None
