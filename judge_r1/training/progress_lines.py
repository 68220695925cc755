"""Prints one line per step of a training, and a line while a step takes long."""

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from typing import Any

from rich.console import Console

from judge_r1.training.distributed import is_main
from judge_r1.training.run_folder import RunFolder

FIRST_SIGN_S, SIGN_S = 10.0, 30.0
"""Seconds until a line says that a step takes long, and between such lines."""
SHOWN = {
    "rollout/reward/r": ("r", ".3f"),
    "rollout/accuracy": ("accuracy", ".2f"),
    "rollout/reward/F1": ("label F1", ".2f"),
    "rollout/reward/valid": ("valid", ".2f"),
    "rollout/reward/searches": ("searches", ".2f"),
    "rollout/reward/evidence_hit": ("evidence", ".2f"),
    "rollout/infrastructure_failures": ("failures", ".2f"),
    "frac_outcome_zero_std": ("same outcome", ".2f"),
    "dev/accuracy": ("dev accuracy", ".2f"),
    "dev/loss": ("dev loss", ".4f"),
    "preference_accuracy": ("preferred", ".2f"),
    "loss": ("loss", ".4f"),
    "entropy": ("entropy", ".3f"),
    "kl": ("KL", ".4f"),
    "grad_norm": ("grad", ".2f"),
    "time/step": ("seconds", ".1f"),
}
"""Metrics of a line, with their labels and number formats."""


class _Lines:
    def __init__(self, console: Console) -> None:
        self.console, self.step, self.changed = console, 0, time.monotonic()
        self.seconds: list[float] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """Print the row of a step. A trainer's summary at the end of a run has no `progress` and is not shown."""
        self.changed = time.monotonic()
        if progress := row.get("progress"):
            self.step = row["step"]
            self.seconds.append(row.get("time/step", 0.0))
            total = round(self.step / progress)
            # The median of the last steps: first steps are often slow.
            left = median(self.seconds[-20:]) * (total - self.step)
            parts = [f"{label} {row[name]:{form}}" for name, (label, form) in SHOWN.items() if name in row]
            parts += [f"left {duration(left)}"] if left else []
            self.console.out("  ".join([f"step {self.step}/{total}", *parts]), highlight=False)

    def say_that_it_waits(self) -> None:
        waited = time.monotonic() - self.changed
        if waited >= FIRST_SIGN_S:
            last = f"no step since step {self.step}" if self.step else "no step yet"
            self.console.out(f"{last}: {duration(waited)}", highlight=False)


@contextmanager
def progress_lines(run: RunFolder, console: Console | None = None) -> Iterator[None]:
    """Print what the run logs within the block. In a distributed run, only the first process prints."""
    if not is_main():
        yield
        return
    lines, ended = _Lines(console or Console()), threading.Event()

    def show_waiting() -> None:
        wait = FIRST_SIGN_S
        while not ended.wait(wait):
            lines.say_that_it_waits()
            wait = SIGN_S

    run.listeners.append(lines.add)
    waiting = threading.Thread(target=show_waiting, daemon=True, name="waiting")
    waiting.start()
    try:
        yield
    finally:
        ended.set()
        waiting.join()
        run.listeners.remove(lines.add)


def duration(seconds: float) -> str:
    """`45 s`, `3:20`, `2:03:20` or `3 d 04:10` (hours and minutes)."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    if hours >= 24:
        return f"{hours // 24} d {hours % 24:02}:{rest // 60:02}"
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"
