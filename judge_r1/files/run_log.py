"""The files of a training run that a report reads, too: its log of steps, its data and its examples."""

from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel

from judge_r1.core.errors import JudgeError
from judge_r1.files.append_log import log_lines
from judge_r1.files.strict_json import BadJson, parse_json


class DataRecord(BaseModel):
    """data.json: how many pairs and cases a run trains on, and the SHA-256 of their files, by role and name."""

    NAME: ClassVar = "data.json"

    pairs: int
    cases: int
    files: dict[str, dict[str, str]]


class ExamplesRecord(BaseModel):
    """examples.json: how many examples SFT trains on, and how many pairs gave none, by reason."""

    NAME: ClassVar = "examples.json"

    used: int
    rejected: dict[str, int] = {}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a log. An incomplete last line, left by a kill, is skipped.

    Raises:
        JudgeError: Another line, or a last line that no kill leaves, is not the JSON object of a step.
    """
    rows = []
    for number, _, line in log_lines(path):
        try:
            row = parse_json(line, path)
        except BadJson:
            raise JudgeError(f"{path}, line {number}: not JSON; the log is damaged") from None
        rows.append(checked_row(row, f"{path}, line {number}"))
    return rows


def checked_row(row: Any, where: str) -> dict[str, Any]:
    """Returns the row of a log. Raises JudgeError, which names `where`, if it is not an object with a step."""
    if not isinstance(row, dict) or not isinstance(row.get("step"), int):
        raise JudgeError(f"{where}: must be an object with a step; the log is damaged")
    return row
