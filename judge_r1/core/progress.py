"""Shows the progress of slow work on standard error: a bar on a terminal, plain lines elsewhere. Times its stages."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import NamedTuple

AFTER_S, EVERY_S, WINDOW_S = 5.0, 30.0, 120.0
"""Seconds before anything is shown, since quick work needs no sign, between plain lines, and of the window of the rate:
work that an earlier run did makes the first pieces fast."""


class Done(NamedTuple):
    """Pieces of work that are done, all pieces (0 while they are not known), and what else to show."""

    pieces: int
    total: int
    text: str = ""


@contextmanager
def show_progress(title: str, total: int, *, shown: bool = True) -> Iterator[Callable[[], None]]:
    """Yields a function to call once for each of `total` pieces of work that is done."""
    count = 0

    def one_done() -> None:
        nonlocal count
        count += 1

    with watch_progress(title, lambda: Done(count, total), shown=shown):
        yield one_done


@contextmanager
def watch_progress(title: str, state: Callable[[], Done], *, shown: bool = True) -> Iterator[None]:
    """Shows what `state` returns while the block runs. A thread calls it, so the work may block."""
    ended = threading.Event()
    thread = threading.Thread(target=_show, args=(title, state, ended), daemon=True, name="progress")
    if shown:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        if shown:
            thread.join()


def _show(title: str, state: Callable[[], Done], ended: threading.Event) -> None:
    started, left = time.monotonic(), _TimeLeft()
    left.after(state())
    if ended.wait(AFTER_S):
        return
    from rich.console import Console  # imported late, because quick work shows nothing
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if console.is_terminal:
        columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[line]}")
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(escape(title), total=None, line="")
            bar.tasks[0].start_time = started
            while not ended.wait(0.2):
                if (done := state()).total:
                    bar.update(task, completed=done.pieces, total=done.total, line=_line(done, left.after(done)))
        return
    while True:
        if (done := state()).total:
            elapsed = f" after {_rounded(time.monotonic() - started)}"
            console.out(f"{title}: {_line(done, left.after(done), elapsed)}", highlight=False)
        if ended.wait(EVERY_S):
            return


class _TimeLeft:
    """The time left by the rate of the last `WINDOW_S` seconds."""

    def __init__(self) -> None:
        self._marks: deque[tuple[float, int]] = deque()

    def after(self, done: Done) -> timedelta | None:
        """None while no piece was done in the window."""
        now = time.monotonic()
        self._marks.append((now, done.pieces))
        while now - self._marks[0][0] > WINDOW_S and len(self._marks) > 2:
            self._marks.popleft()
        then, count = self._marks[0]
        return (
            _rounded((done.total - done.pieces) * (now - then) / (done.pieces - count)) if done.pieces > count else None
        )


def _line(done: Done, left: timedelta | None, elapsed: str = "") -> str:
    parts = f"{done.pieces:,} of {done.total:,}{elapsed}", f"{left} left" if left is not None else "", done.text
    return ", ".join(filter(None, parts))


def _rounded(seconds: float) -> timedelta:
    return timedelta(seconds=round(seconds))


class StageTimer:
    """Accumulates exclusive wall time per stage: the time of a nested stage does not count for the outer one."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)
        self._inside: list[float] = []

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        self._inside.append(0.0)
        try:
            yield
        finally:
            total = time.perf_counter() - started
            self._seconds[name] += total - self._inside.pop()
            if self._inside:
                self._inside[-1] += total

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name] += seconds

    def pop(self) -> dict[str, float]:
        """The seconds of each stage since the last call."""
        seconds = dict(self._seconds)
        self._seconds.clear()
        return seconds
