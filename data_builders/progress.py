"""Shows the progress of a long run on standard error: a bar on a terminal, a plain line every 30 seconds elsewhere."""

import asyncio
import resource
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from data_builders.teachers.budget import Spending

EVERY_S, WINDOW_S = 30.0, 120.0
"""Seconds between plain lines, and the window of the rate in seconds: cached answers make the first items fast."""
TIMING_FILE = "timing.json"


def run_timing(started: float) -> dict[str, Any]:
    """The seconds since `started` and the peak memory of the process, for timing.json."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": round(time.monotonic() - started, 2), "peak_memory_mb": peak // 1024}


class Progress:
    """Counts items, the records made of them, and teachers' answers. `nouns` are the plurals of items and records."""

    def __init__(
        self, title: str, total: int, spending: Spending | None = None, nouns: tuple[str, str] = ("cases", "pairs")
    ) -> None:
        self.title, self.total, self._spending, self._nouns = title, total, spending, nouns
        self.items = self.records = self.answers = 0
        self._marks: deque[tuple[float, int, int]] = deque([(time.monotonic(), 0, 0)])
        self._printed = time.monotonic()
        console = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[line]}"))
        self._bar = Bar(*columns, console=console, transient=True) if console.is_terminal else None

    def __enter__(self) -> "Progress":
        if self._bar:
            self._bar.start()
            self._task = self._bar.add_task(self.title, total=self.total, line="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def item_done(self, records: int) -> None:
        """Count one item and the records made of it."""
        self.items, self.records = self.items + 1, self.records + records
        self.tick(self.answers)

    def tick(self, answers: int) -> None:
        """Update what is shown. `answers` is the number of answers so far."""
        self.answers, now = answers, time.monotonic()
        if now - self._marks[-1][0] >= 1:
            self._marks.append((now, self.items, self.answers))
        while now - self._marks[0][0] > WINDOW_S and len(self._marks) > 1:
            self._marks.popleft()
        if self._bar:
            self._bar.update(self._task, completed=self.items, line=self.line())
        elif now - self._printed >= EVERY_S:
            self._printed = now
            print(f"{self.title}: {self.line()}", file=sys.stderr, flush=True)

    def line(self) -> str:
        """Counts, rate, cost so far and time left."""
        then, items, answers = self._marks[0]
        seconds = max(time.monotonic() - then, 1e-9)
        parts = [f"{self.items:,} of {self.total:,} {self._nouns[0]}"]
        if self.records:
            parts.append(f"{self.records:,} {self._nouns[1]}")
        if self.answers:
            parts.append(f"{(self.answers - answers) / seconds:.1f} answers/s")
        if self._spending and any(account.price for account in self._spending.accounts().values()):
            parts.append(f"${self._spending.usd:.2f} so far")
        if rate := (self.items - items) / seconds:
            parts.append(f"{timedelta(seconds=round((self.total - self.items) / rate))} left")
        return ", ".join(parts)


@asynccontextmanager
async def every_second(action: Callable[[], None]) -> AsyncIterator[None]:
    """Call `action` once a second while the block runs."""

    async def repeat() -> None:
        while True:
            await asyncio.sleep(1)
            action()

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()
