"""Shows a run while it trains: within the training process, or from another shell by reading its log."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.live import Live

from judge_r1.training.distributed import is_main
from judge_r1.training.monitor.dashboard import age, duration, plain, view
from judge_r1.training.monitor.history import History, Tail
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder, finished, recipe_of_run

POLL_SECONDS = 1.0
QUIET_STEPS, QUIET_SECONDS = 5, 120.0
"""A run is quiet after this many usual step times and this many seconds without a new row."""
FIRST_SIGN_S, SIGN_S = 10.0, 30.0
"""Seconds until a line says that a step takes long, and between such lines."""


def can_draw(console: Console) -> bool:
    """Whether the console is a terminal that shows block characters."""
    return console.is_terminal and not console.is_dumb_terminal and console.encoding.lower().startswith("utf")


class _Display:
    """Shows the new rows of a run: a live dashboard on a terminal, else one line per step.

    It reads the log as another process would, because a resume truncates it. The dashboard starts at the first update:
    other progress bars may use the terminal before."""

    def __init__(self, folder: Path, recipe: Recipe, console: Console | None) -> None:
        self.folder, self.recipe, self.history = folder, recipe, History()
        self.tail = Tail(folder / "metrics.jsonl", self.history)
        self.console = console or Console()
        self.live = Live(console=self.console, get_renderable=self._draw, refresh_per_second=1)
        self.changed = time.monotonic()

    def _draw(self) -> RenderableType:
        now = state(self.folder, self.history)
        return view(self.recipe, self.folder, self.history, state=now, width=self.console.width)

    def update(self) -> None:
        """Show what the log has gained since the last call."""
        drawing = can_draw(self.console)
        for row in self.tail.update():
            self.changed = time.monotonic()
            if not drawing and is_step(row):
                self.console.out(plain(self.history), highlight=False)
        if drawing and not self.live.is_started:
            self.live.start(refresh=True)

    def say_that_it_waits(self) -> None:
        """Prints how long no step has finished, unless the dashboard shows it."""
        waited = time.monotonic() - self.changed
        if waited >= FIRST_SIGN_S and not self.live.is_started:
            last = f"no step since step {self.history.step}" if self.history.step else "no step yet"
            self.console.out(f"{last}: {duration(waited)}", highlight=False)

    def stop(self) -> None:
        if self.live.is_started:
            self.live.refresh()
            self.live.stop()


@contextmanager
def shown(run: RunFolder, recipe: Recipe, console: Console | None = None) -> Iterator[None]:
    """Show the run while the block runs. In a distributed run, only the first process shows anything."""
    if not is_main():
        yield
        return
    display = _Display(run.folder, recipe, console)
    for _ in display.tail.update():  # rows before a resume are not shown again
        pass

    def show_new_rows(_: Mapping[str, Any]) -> None:
        display.update()

    def show_waiting() -> None:
        wait = FIRST_SIGN_S
        while not ended.wait(wait):
            display.say_that_it_waits()
            wait = SIGN_S

    run.listeners.append(show_new_rows)
    ended, waiting = threading.Event(), threading.Thread(target=show_waiting, daemon=True, name="waiting")
    waiting.start()
    try:
        yield
    finally:
        ended.set()
        waiting.join()
        run.listeners.remove(show_new_rows)
        display.stop()


def watch_run(folder: Path, console: Console | None = None) -> None:
    """Follow the run in `folder` until its model is written, starting with the rows that exist.

    Raises:
        JudgeError: `folder` is not a run folder.
    """
    display = _Display(folder, recipe_of_run(folder), console)
    try:
        while True:
            done = finished(folder)  # before reading the log, so that no row is missed
            display.update()
            if done:
                return
            time.sleep(POLL_SECONDS)
    finally:
        display.stop()


def is_step(row: Mapping[str, Any]) -> bool:
    """Whether this is the row of a step rather than a trainer's summary at the end of a run."""
    return "progress" in row


def state(folder: Path, history: History) -> str:
    """The state of the run according to its files."""
    if finished(folder):
        return "finished"
    silence = age(folder / "metrics.jsonl")
    usual = history.last.get("time/step", 0.0)
    if silence > max(QUIET_SECONDS, QUIET_STEPS * usual):
        return f"quiet for {duration(silence)}"
    return "training"
