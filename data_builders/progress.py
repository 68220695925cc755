"""Counts what a build has done, and measures what it took."""

import resource
import time
from collections.abc import Callable
from typing import Any

from data_builders.teachers.budget import Spending
from judge_r1.core.progress import Done

TIMING_FILE = "timing.json"


def run_timing(started: float) -> dict[str, Any]:
    """The seconds since `started` and the peak memory of the process, for timing.json."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": round(time.monotonic() - started, 2), "peak_memory_mb": peak // 1024}


class BuildCounts:
    """Counts items and the records made of them. `noun` is the plural of the records; `answers` counts those of
    teachers."""

    def __init__(self, total: int, noun: str, answers: Callable[[], int], spending: Spending | None = None) -> None:
        self._total, self._noun, self._answers, self._spending = total, noun, answers, spending
        self.items = self.records = 0

    def item_done(self, records: int) -> None:
        """Count one item and the records made of it."""
        self.items, self.records = self.items + 1, self.records + records

    def done(self) -> Done:
        """The items so far, with the records, answers and costs, for a display."""
        parts = [f"{self.records:,} {self._noun}"] if self.records else []
        if answers := self._answers():
            parts.append(f"{answers:,} answers")
        if self._spending and any(account.price for account in self._spending.accounts().values()):
            parts.append(f"${self._spending.usd:.2f} so far")
        return Done(self.items, self._total, ", ".join(parts))
