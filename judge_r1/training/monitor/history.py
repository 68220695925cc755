"""The rows of metrics.jsonl as series to look at, also while they are being written and cut back."""

import json
import os
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

BLOCKS = "▁▂▃▄▅▆▇█"


class History:
    """What is known of a run, by step. Rows of one step are put together."""

    def __init__(self) -> None:
        self._steps: dict[int, dict[str, float]] = {}

    def add(self, row: Mapping[str, Any]) -> None:
        numbers = {key: value for key, value in row.items() if isinstance(value, int | float)}
        self._steps.setdefault(int(row["step"]), {}).update(numbers)

    def forget(self) -> "History":
        """Start anew; returns what was known."""
        before = History()
        before._steps, self._steps = self._steps, {}
        return before

    def knows(self, row: Mapping[str, Any]) -> bool:
        """Does a step say all that the row says?"""
        known = self._steps.get(int(row["step"]), {})
        return all(known.get(key) == value for key, value in row.items() if isinstance(value, int | float))

    @property
    def last(self) -> dict[str, float]:
        """The last step's numbers; empty before the first one."""
        return self._steps[max(self._steps)] if self._steps else {}

    @property
    def step(self) -> int:
        return max(self._steps, default=0)

    @property
    def total(self) -> int | None:
        """All steps of the run, as its rows tell it by `progress`."""
        progress = self.last.get("progress")
        return round(self.step / progress) if progress else None

    @property
    def seconds_left(self) -> float | None:
        """By the median second count of the last 20 steps, since the first ones are often slow and one may be odd."""
        if self.total is None:
            return None
        recent = sorted(self.series("time/step")[-20:])
        return recent[len(recent) // 2] * (self.total - self.step) if recent else None

    def series(self, name: str) -> list[float]:
        """The values of a measure in the order of their steps."""
        return [row[name] for _, row in sorted(self._steps.items()) if name in row]


def sparkline(values: list[float], width: int) -> str:
    """At most `width` blocks from the lowest to the highest value, each the mean of its stretch; level if all agree."""
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
    """Follows a log into a history while another process, perhaps on another machine, appends to it; a run that is
    resumed cuts its log back first."""

    def __init__(self, path: Path, history: History) -> None:
        self.path, self.history = path, history
        self._read, self._end, self._file = 0, b"", 0

    def update(self) -> Iterator[dict[str, Any]]:
        """Take in what is new, and give its rows one by one. Of a log that was cut back, only the history hears again
        what stayed as it was."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        before = History()
        with file:
            number = os.fstat(file.fileno()).st_ino
            if self._rewritten(file, number):
                self._read, self._end, self._file = 0, b"", number
                before = self.history.forget()
            file.seek(self._read)
            lines = file.read()
        lines = lines[: lines.rfind(b"\n") + 1]  # the last line may be half written
        self._read, self._end = self._read + len(lines), (self._end + lines)[-64:]
        for line in filter(None, lines.split(b"\n")):
            row = json.loads(line)
            self.history.add(row)
            if not before.knows(row):
                yield row

    def _rewritten(self, file: BinaryIO, number: int) -> bool:
        """Is it another file than before, or does it not hold what was read? Inode numbers may be used again."""
        if number != self._file:
            return True
        file.seek(self._read - len(self._end))
        return file.read(len(self._end)) != self._end
