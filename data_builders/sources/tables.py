"""The rows of the tables that corpora come in (`judge_r1.core.tabular`), column by column, their texts cleaned.

    for row in rows(path, "medcasereasoning", hub="zou-lab/MedCaseReasoning"):
        prompt = row.text("case_prompt")

`path` is a file, a folder of files, or `hub:OWNER/NAME`; without one the corpus's own place on the hub is read. Every
mistake names the file, the line or row, the column, and what columns there are.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_builders.sources.corpus_io import clean
from data_builders.sources.errors import SourceError
from judge_r1.core import tabular


@dataclass(frozen=True)
class Row:
    """One row: `file` and `number` (from 1) say where it stands, `where` in words; `values` holds its columns."""

    file: str
    number: int
    where: str
    values: Mapping[str, Any]

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
        return SourceError(f"{self.where}: column {column!r} {tabular.is_missing(column, self.values)}")

    def mistyped(self, column: str, wanted: str) -> SourceError:
        return SourceError(
            f"{self.where}: column {column!r} must hold {wanted}, not {type(self.values[column]).__name__}; "
            f"{tabular.columns_of(self.values)}"
        )


def rows(path: Path | None, source: str, hub: str | None) -> Iterator[Row]:
    """The rows of `path`, or of the corpus's own `hub` name without one. Errors: SourceError, BadTable."""
    if path is None and hub is None:
        raise SourceError(f"source {source!r} reads a corpus from disk: give --path, its file or folder")
    return map(_row, tabular.rows(path if path is not None else Path(f"{tabular.HUB}{hub}")))


def file_rows(file: Path) -> Iterator[Row]:
    """The rows of one file, read by its ending. Errors: BadTable."""
    return map(_row, tabular.file_rows(file))


def _row(found: tabular.Found) -> Row:
    return Row(found.file, found.number, found.where, found.values)
