"""Writes files of evaluations with their digests, for tests that make or edit them by hand."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from judge_r1.evaluation.votes import StoredVote, lines_of
from judge_r1.files.digests import DIGEST, LinesDigest, SumDigest, with_digest
from judge_r1.files.evaluation_files import OUTCOMES, ROWS, SUMMARY, VOTES, digested
from judge_r1.files.jsonl import write_json


class _Named(BaseModel):
    row: str


def write_summary(folder: Path, summary: Mapping[str, Any]) -> None:
    """summary.json with the digests of the other files as they are in `folder`."""
    bare = {name: value for name, value in summary.items() if name not in (DIGEST, "schema")}
    outcomes = LinesDigest.of(folder / OUTCOMES) if (folder / OUTCOMES).exists() else None
    rows = json.loads((folder / ROWS).read_text()) if (folder / ROWS).exists() else {}
    sums: dict[str, SumDigest] = {}
    for found in lines_of(folder / VOTES, _Named) if (folder / VOTES).exists() else ():
        sums.setdefault(found.record.row, SumDigest()).add(found.digest)
    write_json(folder / SUMMARY, digested(bare, outcomes, rows, {name: one.text for name, one in sums.items()}))


def edit_summary(folder: Path, **changes: Any) -> None:
    """Changes fields of summary.json, or none, and computes all digests again."""
    write_summary(folder, json.loads((folder / SUMMARY).read_text()) | changes)


def write_votes(folder: Path, votes: list[StoredVote]) -> None:
    bodies = [stored.model_dump_json(by_alias=True).encode() for stored in votes]
    (folder / VOTES).write_bytes(b"".join(with_digest(body)[0] for body in bodies))
