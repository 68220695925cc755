"""The digest of a finished evaluation: `summary.json` names the outcomes, votes and settings that it was made of."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from judge_r1.core.errors import JudgeError
from judge_r1.files.digests import DIGEST, LinesDigest, value_digest
from judge_r1.files.strict_json import check_shape, read_json

SUMMARY, ROWS, OUTCOMES, VOTES = "summary.json", "rows.json", "outcomes.jsonl", "votes.jsonl"
"""`rows.json` is written at the start of a panel: its judges, their settings and a hash of the items, so that a resume
mixes none."""
SCHEMA = 2
"""The version of summary.json. Earlier ones have no digest, and no field `schema`."""
_AGAIN = "restore the file, or write it again, from the votes by `judge-r1 eval --resume` with the original options"


class _Digest(BaseModel):
    summary: str
    outcomes: str | None
    rows: dict[str, str]
    votes: dict[str, str]


_DIGEST_SHAPE: TypeAdapter[Any] = TypeAdapter(_Digest)


class BadEvaluation(JudgeError):
    """The files of an evaluation that do not belong together; the message names the one that differs."""


def refuse_earlier_name(folder: Path) -> None:
    """Raises: BadEvaluation if the votes in `folder` are in traces.jsonl, the name of earlier versions."""
    earlier = folder / "traces.jsonl"
    if earlier.exists() and (folder / ROWS).exists() and not (folder / VOTES).exists():
        raise BadEvaluation(f"{earlier} is called {VOTES} now: rename the file")


def digested(
    summary: Mapping[str, Any], outcomes: LinesDigest | None, rows: Mapping[str, Any], votes: Mapping[str, str]
) -> dict[str, Any]:
    """The content of summary.json: its schema, `summary`, and the digests of what it belongs to. `rows` are the
    panels' entries of rows.json, and `votes` the digests of their votes (`SumDigest`)."""
    parts = {"outcomes": outcomes and outcomes.text, "rows": {name: value_digest(row) for name, row in rows.items()},
             "votes": dict(votes)}  # fmt: skip
    found = {"schema": SCHEMA, **summary, DIGEST: parts}
    return found | {DIGEST: {"summary": value_digest(found), **parts}}


def check_summary(folder: Path, summary: Any) -> None:
    """Checks the content of `folder/summary.json`, and rows.json if it is there, by their digests.

    Raises:
        BadEvaluation: The summary is of another schema, or one of the files was changed.
        BadJson: A file cannot be read.
    """
    refuse_earlier_name(folder)
    path = folder / SUMMARY
    schema = summary.get("schema") if isinstance(summary, dict) else None
    if schema != SCHEMA:
        raise BadEvaluation(
            f"{path} has {'no `schema`' if schema is None else f'the `schema` {str(schema)[:20]}'}, and this version "
            f"reads {SCHEMA}, which holds digests of the files: evaluate again into another --out"
        )
    told = summary.get(DIGEST)
    check_shape(told, _DIGEST_SHAPE, f"{path}: field {DIGEST}")
    parts = {name: part for name, part in told.items() if name != "summary"}
    if told["summary"] != value_digest(summary | {DIGEST: parts}):
        raise BadEvaluation(f"{path} was changed after it was written: {_AGAIN}")
    if not told["rows"] or not (folder / ROWS).exists():
        return
    rows = read_json(folder / ROWS)
    for name, digest in told["rows"].items():
        if not isinstance(rows, dict) or value_digest(rows.get(name)) != digest:
            raise BadEvaluation(
                f"{folder / ROWS}: judge {name!r} has other settings than {SUMMARY} was made with: {_AGAIN}"
            )


def check_outcomes(folder: Path, summary: Mapping[str, Any]) -> None:
    """Compares `folder/outcomes.jsonl`, if it is there, with the digest in `summary`. Raises: BadEvaluation."""
    path = folder / OUTCOMES
    if path.exists() and LinesDigest.of(path).text != summary[DIGEST]["outcomes"]:
        raise BadEvaluation(f"{path} is not the file that {SUMMARY} was written with: {_AGAIN}")
