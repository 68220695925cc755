"""Published results of judges, as data files: numbers of papers and repositories, not measured here.

A file holds the tables of one source. `tables` map a subset of the benchmark ("" for all of it) to judges and their
accuracies; `measures` do the same for other measures, by the name that the benchmark gives them. `ignored` are words of
a subset that do not change the table, or "*" for all words. `same_items` is false if the numbers were measured on other
items than the benchmark's files hold. `judge` names the judge where the rows are the systems that it scored.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from judge_r1.files.strict_json import parse_model

ALL_WORDS = "*"


class PublishedTable(BaseModel):
    """One file. `date` is the date of the publication, or of the repository that was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_: Literal[1] = Field(alias="schema")
    benchmark: str = Field(min_length=1)
    source: str = Field(min_length=1)
    date: str = Field(min_length=4)
    same_items: bool
    note: str
    judge: str | None = None
    ignored: tuple[str, ...]
    tables: dict[str, dict[str, Annotated[float, Field(ge=0, le=1)]]] = {}
    measures: dict[str, dict[str, dict[str, FiniteFloat]]] = {}

    @model_validator(mode="after")
    def _has_numbers(self) -> "PublishedTable":
        if not self.tables and not self.measures:
            raise ValueError("needs tables or measures")
        return self

    def accuracies(self, subset: str | None) -> Mapping[str, float]:
        """The judges of a subset and their accuracies; empty if the source has no such table. The order of the words
        of a subset does not matter."""
        return self._of(self.tables, subset)

    def measured(self, subset: str | None) -> dict[str, Mapping[str, float]]:
        """The other measures of a subset: name -> judge -> value."""
        found = {name: self._of(tables, subset) for name, tables in self.measures.items()}
        return {name: judges for name, judges in found.items() if judges}

    def _of(self, tables: Mapping[str, Mapping[str, float]], subset: str | None) -> Mapping[str, float]:
        wanted = set() if ALL_WORDS in self.ignored else _words(subset or "") - set(self.ignored)
        return next((judges for key, judges in tables.items() if _words(key) == wanted), {})

    @property
    def citation(self) -> str:
        """The source, its date and its note."""
        return f"{self.source} ({self.date}{f'; {self.note}' if self.note else ''})"


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """All tables, by file name."""
    found = sorted((file for file in files(__name__).iterdir() if file.name.endswith(".json")), key=lambda f: f.name)
    return tuple(parse_model(PublishedTable, file.read_bytes(), Path(file.name)) for file in found)


def published(benchmark: str, subset: str | None, *, same_items: bool) -> list[PublishedTable]:
    """The tables with results on a subset of a benchmark; with `same_items` only those measured on its own items."""
    return [
        table
        for table in published_tables()
        if table.benchmark == benchmark
        and (table.accuracies(subset) or table.measured(subset))
        and (table.same_items or not same_items)
    ]


def _words(subset: str) -> set[str]:
    return {word.strip() for word in subset.split(",")} - {""}
