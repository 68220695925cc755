"""The rows of the tables that benchmarks come in (`judge_r1.core.tabular`), column by column.

    for row in rows(path, splits=("filtered",)):
        prompt = row.text("prompt")

Every mistake names the file, the line or row, and the column.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import BadBenchmark
from judge_r1.core import tabular


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
            raise self.bad(column, tabular.is_missing(column, self.values))
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
    """The rows of a file, a folder or a hub name, of `splits` alone where any are given. Errors: BadTable."""
    return map(_row, tabular.rows(path, splits))


def objects(path: Path) -> Iterator[Row]:
    """The rows of one file, read by its ending. Errors: BadTable."""
    return map(_row, tabular.file_rows(path))


def one_file(path: Path, *places: str) -> Path:
    """`path` itself, or the first of `places` below it that exists. Errors: BadBenchmark."""
    if path.is_file():
        return path
    for place in places:
        if (path / place).is_file():
            return path / place
    raise BadBenchmark(f"{path} must be a file, or a folder that holds {' or '.join(places)}")


def _row(found: tabular.Found) -> Row:
    return Row(found.where, found.split, found.values)
