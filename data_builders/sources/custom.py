"""`custom`: a user's domain, described in one YAML file (`path=domain.yaml`).

    domain: insurance                      # one or two plain words; part of the judge's prompt
    role: a senior claims adjuster         # follows "You are" in prompts to a teacher
    decision_name: coverage decision       # follows "the" in prompts to a teacher
    files: claims.jsonl                    # beside the YAML file: .jsonl(.gz), .json, .csv, .parquet; or hub:OWNER/NAME
    columns: {context: file_text, decision: outcome, reference: rationale, id: claim_no}
    license: CC BY 4.0

The role and the decision name are trusted: they are the user's words and enter prompts to teachers. They are not stored
in records, so data from others cannot change prompts. The judge's prompt contains only the domain's name, which is
limited to letters, digits, blanks, `_` and `-`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from data_builders.prompts import DOMAINS, DomainText
from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import CorpusRow, SourceError, all_present, corpus_rows
from data_builders.sources.text_repair import Changes, changes_as_meta, repaired
from judge_r1.core.record_base import NonEmpty
from judge_r1.core.records import DOMAIN, Case, Domain
from judge_r1.files.tabular import HUB
from judge_r1.files.yaml_config import ConfigModel, load_config

NAME = "custom"


def _wording(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must be words on one line")
    return text.strip()


def _plain(name: object) -> object:
    if isinstance(name, str) and not re.fullmatch(DOMAIN, name):
        raise ValueError(
            f"{name!r} must have lower-case letters, digits, blanks, _ and - only, and begin with a letter"
        )
    return name


def _as_list(files: object) -> object:
    return [files] if isinstance(files, str) else files


Wording = Annotated[str, Field(max_length=200), AfterValidator(_wording)]


class Columns(ConfigModel):
    """The columns of the files. Rows with the same `group` stay together in a split."""

    context: NonEmpty
    decision: NonEmpty
    reference: NonEmpty
    id: NonEmpty | None = None
    group: NonEmpty | None = None
    license: NonEmpty | None = None


class DomainFile(ConfigModel):
    """A domain, and the files of its cases."""

    domain: Annotated[Domain, BeforeValidator(_plain)]
    role: Wording
    decision_name: Wording = "decision"
    files: Annotated[list[NonEmpty], BeforeValidator(_as_list), Field(min_length=1)]
    columns: Columns
    license: NonEmpty | None = None

    @model_validator(mode="after")
    def _licensed(self) -> "DomainFile":
        if (self.license is None) == (self.columns.license is None):
            raise ValueError("give either license, or columns.license if it differs by row")
        return self


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """At most `limit` cases, in the order of `files` and their rows. `seed` has no effect."""
    if path is None:
        raise SourceError(f"source {NAME!r} reads a domain file: give path=domain.yaml")
    if path.suffix.lower() not in (".yaml", ".yml"):
        raise SourceError(
            f"{path}: source {NAME!r} reads a YAML file (domain.yaml) that names the domain, the table of cases and "
            "its columns; docs/build_dataset.md#your-own-domain has an example"
        )
    described = load_config(DomainFile, path)
    DOMAINS[described.domain] = DomainText(role=described.role, decision_name=described.decision_name)
    found = (_case(row, described, skipped) for row in _unique(_rows(path, described), described))
    yield from islice((case for case in found if case is not None), limit)


def _rows(path: Path, described: DomainFile) -> Iterator[CorpusRow]:
    for name in described.files:
        location = Path(name) if name.startswith(HUB) else path.parent / name
        if not name.startswith(HUB) and not location.exists():
            raise SourceError(f"{path}: key files names {name}, and {location} does not exist")
        yield from corpus_rows(location, NAME)


def _unique(found: Iterator[CorpusRow], described: DomainFile) -> Iterator[CorpusRow]:
    """The rows. Raises: SourceError for a repeated id."""
    column = described.columns.id
    seen: dict[str, str] = {}
    for row in found:
        if column is not None and not row.label(column):
            raise SourceError(f"{row.where}: column {column!r}, the id, is empty")
        if column is not None and (first := seen.setdefault(row.label(column), row.where)) != row.where:
            raise SourceError(f"{row.where}: column {column!r} repeats {row.label(column)!r} of {first}")
        yield row


def _case(row: CorpusRow, described: DomainFile, skipped: Counter[str]) -> Case | None:
    columns, changes = described.columns, Changes()
    parts = {part: repaired(row.text(getattr(columns, part)), changes) for part in ("context", "decision", "reference")}
    if not all_present(NAME, parts, skipped):
        return None
    license_ = described.license or row.text(columns.license or "")
    if not license_:
        raise SourceError(f"{row.where}: column {columns.license!r}, the licence, is empty")
    file = Path(row.file).name
    name = row.label(columns.id) if columns.id else f"{file}:{row.number}"
    group = row.label(columns.group) if columns.group else ""
    meta = {"group": group} if group else {}  # an empty cell groups nothing
    return Case.of(
        domain=described.domain,
        source=f"{described.domain}/{name}",
        license=license_,
        meta={**meta, "file": file, "row": row.number, **changes_as_meta(changes)},
        **parts,
    )


SOURCES.register(NAME)(
    Source(read=read, help="your own cases: path is a YAML file that names the domain, the files and their columns")
)
