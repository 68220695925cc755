"""Published accuracies of judges, as data files: numbers of papers and repositories, not measured here.

A file holds one table of one source. Its `tables` map a subset of the benchmark ("" for all of it) to judges and their
accuracies. `ignored` are words of a subset that do not change the table. `same_items` is false if the numbers were
measured on other items than the benchmark's files hold.
"""

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from judge_r1.core.strict_json import parse_json


class PublishedTable(BaseModel):
    """One file. `date` is the date of the publication, or of the repository that was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal[1] = Field(alias="schema")
    benchmark: str = Field(min_length=1)
    source: str = Field(min_length=1)
    date: str = Field(min_length=4)
    same_items: bool
    note: str
    ignored: tuple[str, ...]
    tables: dict[str, dict[str, Annotated[float, Field(ge=0, le=1)]]] = Field(min_length=1)

    def accuracies(self, subset: str | None) -> dict[str, float]:
        """The judges of a subset and their accuracies; empty if the source has no such table. The order of the words
        of a subset does not matter."""
        wanted = _words(subset or "") - set(self.ignored)
        return next((judges for key, judges in self.tables.items() if _words(key) == wanted), {})

    @property
    def citation(self) -> str:
        """The source, its date and its note."""
        return f"{self.source} ({self.date}{f'; {self.note}' if self.note else ''})"


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """All tables, by file name."""
    found = sorted((file for file in files(__name__).iterdir() if file.name.endswith(".json")), key=lambda f: f.name)
    check = TypeAdapter(PublishedTable)
    return tuple(check.validate_python(parse_json(file.read_bytes(), Path(file.name))) for file in found)


def published(benchmark: str, subset: str | None, *, same_items: bool) -> list[PublishedTable]:
    """The tables with accuracies on a subset of a benchmark; with `same_items` only those measured on its own items."""
    return [
        table
        for table in published_tables()
        if table.benchmark == benchmark and table.accuracies(subset) and (table.same_items or not same_items)
    ]


def _words(subset: str) -> set[str]:
    return set(subset.split(":")) - {""}
