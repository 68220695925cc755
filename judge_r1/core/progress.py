"""Shows the progress of slow work on standard error: a bar on a terminal, plain lines elsewhere."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

AFTER_S, EVERY_S = 5.0, 30.0
"""Seconds before anything is shown, since quick work needs no sign, and seconds between plain lines."""


@contextmanager
def show_progress(title: str, total: int, *, shown: bool = True) -> Iterator[Callable[[], None]]:
    """Yields a function to call once for each of `total` pieces of work that is done. A thread shows the progress, so
    the work may block."""
    done, ended = 0, threading.Event()

    def one_done() -> None:
        nonlocal done
        done += 1

    thread = threading.Thread(target=_show, args=(title, total, lambda: done, ended), daemon=True, name="progress")
    if shown:
        thread.start()
    try:
        yield one_done
    finally:
        ended.set()
        if shown:
            thread.join()


def _show(title: str, total: int, done: Callable[[], int], ended: threading.Event) -> None:
    started = time.monotonic()
    if ended.wait(AFTER_S):
        return
    from rich.console import Console  # imported late, because quick work shows nothing
    from rich.progress import Progress, TimeElapsedColumn

    console = Console(stderr=True)
    if console.is_terminal:
        with Progress(*Progress.get_default_columns(), TimeElapsedColumn(), console=console, transient=True) as bar:
            task = bar.add_task(title, total=total)
            bar.tasks[0].start_time = started
            while not ended.wait(0.2):
                bar.update(task, completed=done(), description=f"{title} {done()} of {total}")
        return
    while True:
        now, seconds = done(), time.monotonic() - started
        left = f", {_rounded(seconds * (total - now) / now)} left" if now else ""
        console.out(f"{title}: {now} of {total} after {_rounded(seconds)}{left}", highlight=False)
        if ended.wait(EVERY_S):
            return


def _rounded(seconds: float) -> timedelta:
    return timedelta(seconds=round(seconds))
