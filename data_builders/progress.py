"""How far a long run is: a bar on a terminal, a plain line every half minute elsewhere (both on standard error)."""

import asyncio
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from data_builders.teachers.budget import Spending

EVERY_S, WINDOW_S = 30.0, 120.0
"""Seconds between plain lines, and over which the rate is taken: a build that replays its cache is fast at first."""


class Progress:
    """Counts cases (or whatever else is `counted`), pairs and answers; `spending` knows what was paid."""

    def __init__(self, title: str, total: int, spending: Spending | None = None, counted: str = "cases") -> None:
        self.title, self.total, self._spending, self._counted = title, total, spending, counted
        self.cases = self.pairs = self.answers = 0
        self._marks: deque[tuple[float, int, int]] = deque([(time.monotonic(), 0, 0)])
        self._said = time.monotonic()
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

    def case_done(self, pairs: int) -> None:
        self.cases, self.pairs = self.cases + 1, self.pairs + pairs
        self.tick(self.answers)

    def tick(self, answers: int) -> None:
        """Show how things stand; `answers` is how many there are in all."""
        self.answers, now = answers, time.monotonic()
        if now - self._marks[-1][0] >= 1:
            self._marks.append((now, self.cases, self.answers))
        while now - self._marks[0][0] > WINDOW_S and len(self._marks) > 1:
            self._marks.popleft()
        if self._bar:
            self._bar.update(self._task, completed=self.cases, line=self.line())
        elif now - self._said >= EVERY_S:
            self._said = now
            print(f"{self.title}: {self.line()}", file=sys.stderr, flush=True)

    def line(self) -> str:
        """Counts, rate, cost so far and time left."""
        then, cases, answers = self._marks[0]
        seconds = max(time.monotonic() - then, 1e-9)
        parts = [f"{self.cases:,} of {self.total:,} {self._counted}"]
        if self.pairs:
            parts.append(f"{self.pairs:,} pairs")
        if self.answers:
            parts.append(f"{(self.answers - answers) / seconds:.1f} answers/s")
        if self._spending and any(bill.run_usd is not None for bill in self._spending.bills().values()):
            parts.append(f"${self._spending.usd:.2f} so far")
        if rate := (self.cases - cases) / seconds:
            parts.append(f"{timedelta(seconds=round((self.total - self.cases) / rate))} left")
        return ", ".join(parts)


@asynccontextmanager
async def every_second(what: Callable[[], None]) -> AsyncIterator[None]:
    """Calls `what` once a second while the block runs."""

    async def repeat() -> None:
        while True:
            await asyncio.sleep(1)
            what()

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()
