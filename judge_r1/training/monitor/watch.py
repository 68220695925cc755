"""Watching a run: beside the training in its own process, or from another shell by what it writes down."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.live import Live

from judge_r1.core.errors import JudgeError
from judge_r1.training.distributed import is_main
from judge_r1.training.monitor.dashboard import age, clock, plain, view
from judge_r1.training.monitor.history import History, Tail
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.run_folder import RunFolder, finished

POLL_SECONDS = 1.0
QUIET_STEPS, QUIET_SECONDS = 5, 120.0
"""A run that has been silent for so many of its steps, and so long, is said to be quiet."""


def fancy(console: Console) -> bool:
    """Can the view be drawn: a terminal that knows its blocks?"""
    return console.is_terminal and not console.is_dumb_terminal and console.encoding.lower().startswith("utf")


@contextmanager
def shown(run: RunFolder, recipe: Recipe, console: Console | None = None) -> Iterator[None]:
    """Show what the run logs inside: the view on a terminal, one line a step elsewhere; of the processes of a
    distributed run the first one alone."""
    console = console or Console()
    if not is_main():
        yield
        return
    history = History()
    tail = Tail(run.folder / "metrics.jsonl", history)  # as another process would: a resume cuts the log back
    live = _Live(console, lambda: _now(recipe, run.folder, history, console))

    def tell(_: Mapping[str, Any]) -> None:
        for row in tail.update():
            if not fancy(console) and is_step(row):
                console.out(plain(history), highlight=False)
        if fancy(console):
            live.start()

    for _ in tail.update():
        pass
    run.listeners.append(tell)
    try:
        yield
    finally:
        run.listeners.remove(tell)
        live.stop()


class _Live:
    """A live display that starts at the first row: before it other bars may want the terminal."""

    def __init__(self, console: Console, draw: Callable[[], RenderableType]) -> None:
        self._live = Live(console=console, get_renderable=draw, refresh_per_second=1)
        self._on = False

    def start(self) -> None:
        if not self._on:
            self._live.start(refresh=True)
            self._on = True

    def stop(self) -> None:
        if self._on:
            self._live.refresh()
            self._live.stop()


def watch_run(folder: Path, console: Console | None = None) -> None:
    """Follow the run in `folder` until its model is written; what is there already is shown at once.

    Errors: JudgeError where there is no run.
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
            done = finished(folder)  # before the look at the log, so that no row of it is missed
            for row in tail.update():
                if not fancy(console) and is_step(row):
                    console.out(plain(history), highlight=False)
            if fancy(console):
                live.start()
            if done:
                return
            time.sleep(POLL_SECONDS)
    finally:
        live.stop()


def is_step(row: Mapping[str, Any]) -> bool:
    """Is it the row of a step, and not what a trainer says at the end of a run?"""
    return "progress" in row


def _now(recipe: Recipe, folder: Path, history: History, console: Console) -> RenderableType:
    return view(recipe, folder, history, state=state(folder, history), width=console.width)


def state(folder: Path, history: History) -> str:
    """What the run is doing, as far as its files tell."""
    if finished(folder):
        return "finished"
    silent = age(folder / "metrics.jsonl")
    usual = history.last.get("time/step", 0.0)
    if silent > max(QUIET_SECONDS, QUIET_STEPS * usual):
        return f"quiet for {clock(silent)}"
    return "training"
