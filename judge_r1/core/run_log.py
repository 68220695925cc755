"""Reads the JSON Lines logs of training runs, also those written by earlier versions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError, read_error
from judge_r1.core.strict_json import BadJson, is_torn, parse_json

RENAMED_METRICS = {
    "clip_share": "clip_fraction",
    "rollout/zero_variance/reward": "frac_reward_zero_std",
    "rollout/zero_variance/outcome": "frac_outcome_zero_std",
    "time/sync": "time/weight_sync",
}
"""Earlier names of metrics -> present names."""


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The rows of a metrics.jsonl under present metric names.

    Raises:
        JudgeError: A line other than the last is not JSON.
    """
    return [with_present_names(row) for row in read_rows(path)]


def with_present_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of metrics.jsonl with `RENAMED_METRICS` applied."""
    return {RENAMED_METRICS.get(name, name): value for name, value in row.items()}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a log. An incomplete last line, left by a kill, is skipped.

    Raises:
        JudgeError: Another line, or a last line that no kill leaves, is not the JSON object of a step.
    """
    rows = []
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise read_error(path, error) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line, path)
        except BadJson:
            if number < len(lines) or not is_torn(line):
                raise JudgeError(f"{path}, line {number}: not JSON; the log is damaged") from None
            break
        rows.append(checked_row(row, f"{path}, line {number}"))
    return rows


def checked_row(row: Any, where: str) -> dict[str, Any]:
    """Returns the row of a log. Raises JudgeError, which names `where`, if it is not an object with a step."""
    if not isinstance(row, dict) or not isinstance(row.get("step"), int):
        raise JudgeError(f"{where}: must be an object with a step; the log is damaged")
    return row
