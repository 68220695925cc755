"""Holds the metrics of a run as series, and follows metrics.jsonl while a run writes or truncates it."""

import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

from judge_r1.core.errors import JudgeError, read_error
from judge_r1.core.run_log import checked_row, with_present_names
from judge_r1.core.strict_json import parse_json

BLOCKS = "▁▂▃▄▅▆▇█"


class History:
    """The metrics of a run by step. Rows of one step are merged."""

    def __init__(self) -> None:
        self._steps: dict[int, dict[str, float]] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        numbers = _numbers(row)
        self._steps.setdefault(int(row["step"]), {}).update(numbers)

    def clear(self) -> "History":
        """Remove all metrics. Returns them as another history."""
        before = History()
        before._steps, self._steps = self._steps, {}
        return before

    def contains(self, row: Mapping[str, Any]) -> bool:
        """Whether the step of `row` has all its numbers already."""
        return _numbers(row).items() <= self._steps.get(int(row["step"]), {}).items()

    @property
    def last(self) -> dict[str, float]:
        """The metrics of the last step; empty before the first one."""
        return self._steps[max(self._steps)] if self._steps else {}

    @property
    def step(self) -> int:
        return max(self._steps, default=0)

    @property
    def total(self) -> int | None:
        """The number of steps of the whole run, from `progress` of the last row."""
        progress = self.last.get("progress")
        return round(self.step / progress) if progress else None

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the median duration of the last 20 steps: first steps are often slow."""
        if self.total is None:
            return None
        recent = sorted(self.series("time/step")[-20:])
        return recent[len(recent) // 2] * (self.total - self.step) if recent else None

    def series(self, name: str) -> list[float]:
        """The values of a metric, ordered by step."""
        return [row[name] for _, row in sorted(self._steps.items()) if name in row]


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    return {key: value for key, value in with_present_names(row).items() if isinstance(value, int | float)}


def sparkline(values: list[float], width: int) -> str:
    """At most `width` block characters, each the mean of its part of `values`; a flat line if all are equal."""
    if not values:
        return ""
    count = min(width, len(values))
    cuts = [round(i * len(values) / count) for i in range(count + 1)]
    means = [sum(values[low:high]) / (high - low) for low, high in pairwise(cuts)]
    low, high = min(means), max(means)
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        return BLOCKS[3] * count
    return "".join(BLOCKS[round((mean - low) / (high - low) * (len(BLOCKS) - 1))] for mean in means)


class Tail:
    """Reads new rows of a log into a history while another process, possibly on another machine, appends to it.

    A run that resumes truncates its log first."""

    def __init__(self, path: Path, history: History) -> None:
        self.path, self.history = path, history
        self._offset, self._end, self._inode = 0, b"", 0

    def update(self) -> Iterator[dict[str, Any]]:
        """Add new rows to the history and yield them. Of a truncated log, unchanged rows are not yielded again.

        Raises:
            JudgeError: The file cannot be read, or a line is not the JSON object of a step.
        """
        before = History()
        try:
            with self.path.open("rb") as file:
                inode = os.fstat(file.fileno()).st_ino
                if self._rewritten(file, inode):
                    self._offset, self._end, self._inode = 0, b"", inode
                    before = self.history.clear()
                file.seek(self._offset)
                lines = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise read_error(self.path, error) from None
        lines, unfinished = lines[: (end := lines.rfind(b"\n") + 1)], lines[end:]  # the last line may be half written
        if unfinished and not unfinished.startswith(b"{"):
            raise JudgeError(f"{self.path}: its last line is no row of metrics, and not the beginning of one")
        self._offset, self._end = self._offset + len(lines), (self._end + lines)[-64:]
        for line in filter(bytes.strip, lines.split(b"\n")):
            row = checked_row(parse_json(line, self.path), str(self.path))
            self.history.add(row)
            if not before.contains(row):
                yield row

    def _rewritten(self, file: BinaryIO, inode: int) -> bool:
        """Whether the file was replaced, or lacks what was read before. Inode numbers may be reused."""
        if inode != self._inode:
            return True
        file.seek(self._offset - len(self._end))
        return file.read(len(self._end)) != self._end
