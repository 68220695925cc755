"""Reads the JSON Lines logs of training runs, also those written by earlier versions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError, read_error
from judge_r1.core.strict_json import BadJson, parse_json

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
        JudgeError: Another line is not JSON.
    """
    rows = []
    try:
        lines = path.read_bytes().split(b"\n") if path.exists() else []
    except OSError as error:
        raise read_error(path, error) from None
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            row = parse_json(line, path)
        except BadJson:
            if number < len(lines):
                raise JudgeError(f"{path}, line {number}: not JSON; the log is damaged") from None
            break
        if not isinstance(row, dict):
            raise JudgeError(f"{path}, line {number}: must be an object; the log is damaged")
        rows.append(row)
    return rows
