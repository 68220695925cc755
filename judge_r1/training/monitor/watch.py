"""Shows a run while it trains: within the training process, or from another shell by reading its log."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.live import Live

from judge_r1.core.errors import JudgeError
from judge_r1.training.distributed import is_main
from judge_r1.training.monitor.dashboard import age, duration, plain, view
from judge_r1.training.monitor.history import History, Tail
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.run_folder import RunFolder, finished

POLL_SECONDS = 1.0
QUIET_STEPS, QUIET_SECONDS = 5, 120.0
"""A run is quiet after this many usual step times and this many seconds without a new row."""


def can_draw(console: Console) -> bool:
    """Whether the console is a terminal that shows block characters."""
    return console.is_terminal and not console.is_dumb_terminal and console.encoding.lower().startswith("utf")


@contextmanager
def shown(run: RunFolder, recipe: Recipe, console: Console | None = None) -> Iterator[None]:
    """Show the run while the block runs: a dashboard on a terminal, else one line per step.

    In a distributed run, only the first process shows anything."""
    console = console or Console()
    if not is_main():
        yield
        return
    history = History()
    tail = Tail(run.folder / "metrics.jsonl", history)  # read as another process would: a resume truncates the log
    live = _Live(console, lambda: _now(recipe, run.folder, history, console))

    def show_new_rows(_: Mapping[str, Any]) -> None:
        for row in tail.update():
            if not can_draw(console) and is_step(row):
                console.out(plain(history), highlight=False)
        if can_draw(console):
            live.start()

    for _ in tail.update():
        pass
    run.listeners.append(show_new_rows)
    try:
        yield
    finally:
        run.listeners.remove(show_new_rows)
        live.stop()


class _Live:
    """A live display that starts at the first row, because other progress bars may use the terminal before."""

    def __init__(self, console: Console, draw: Callable[[], RenderableType]) -> None:
        self._live = Live(console=console, get_renderable=draw, refresh_per_second=1)
        self._started = False

    def start(self) -> None:
        if not self._started:
            self._live.start(refresh=True)
            self._started = True

    def stop(self) -> None:
        if self._started:
            self._live.refresh()
            self._live.stop()


def watch_run(folder: Path, console: Console | None = None) -> None:
    """Follow the run in `folder` until its model is written, starting with the rows that exist.

    Raises:
        JudgeError: `folder` is not a run folder.
    """
    console = console or Console()
    if not (folder / "recipe.yaml").exists():
        raise JudgeError(f"{folder} holds no run (no recipe.yaml): give the folder that `judge-r1 train` writes to")
    recipe = load_recipe(folder / "recipe.yaml")
    history = History()
    tail = Tail(folder / "metrics.jsonl", history)
    live = _Live(console, lambda: _now(recipe, folder, history, console))
    try:
        while True:
            done = finished(folder)  # before reading the log, so that no row is missed
            for row in tail.update():
                if not can_draw(console) and is_step(row):
                    console.out(plain(history), highlight=False)
            if can_draw(console):
                live.start()
            if done:
                return
            time.sleep(POLL_SECONDS)
    finally:
        live.stop()


def is_step(row: Mapping[str, Any]) -> bool:
    """Whether this is the row of a step rather than a trainer's summary at the end of a run."""
    return "progress" in row


def _now(recipe: Recipe, folder: Path, history: History, console: Console) -> RenderableType:
    return view(recipe, folder, history, state=state(folder, history), width=console.width)


def state(folder: Path, history: History) -> str:
    """The state of the run according to its files."""
    if finished(folder):
        return "finished"
    silence = age(folder / "metrics.jsonl")
    usual = history.last.get("time/step", 0.0)
    if silence > max(QUIET_SECONDS, QUIET_STEPS * usual):
        return f"quiet for {duration(silence)}"
    return "training"
