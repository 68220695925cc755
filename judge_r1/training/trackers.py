"""Sends the rows of metrics.jsonl to TensorBoard, trackio and Weights & Biases.

metrics.jsonl stays the record. Each tracker has its own thread, so a tracker that fails or waits for a network costs a
warning but never stops training.
"""

import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import write_json
from judge_r1.core.strict_json import read_json
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder

PROJECT = "judge_r1"
FINISH_SECONDS = 60.0
"""How long the end of a run waits for a tracker to send its remaining rows."""
Numbers = Mapping[str, float]


class Tracker(Protocol):
    """A run of a tracker, as trackio and Weights & Biases define it."""

    def log(self, numbers: dict[str, float], /, *, step: int) -> None: ...

    def finish(self) -> None: ...


class TensorBoard:
    """Event files in RUN/tensorboard."""

    def __init__(self, folder: Path, recipe: Recipe, run_id: str, last: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        resume_step = last + 1 if last else None  # hides partial rows of the next step, which is logged again
        self._writer: Any = SummaryWriter(str(folder / "tensorboard"), purge_step=resume_step)
        self.finish = self._writer.close

    def log(self, numbers: dict[str, float], /, *, step: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()


def start_trackio(folder: Path, recipe: Recipe, run_id: str, last: int) -> Tracker:
    """A run in trackio's local database in TRACKIO_DIR; `trackio show --project judge_r1` displays it."""
    import trackio

    name, config = f"{folder.name}-{run_id}", recipe.model_dump(mode="json")
    options: Any = {"resume": "allow", "embed": False, "auto_log_gpu": False, "auto_log_cpu": False}
    run: Tracker = trackio.init(PROJECT, name=name, config=config, **options)
    return run


def start_wandb(folder: Path, recipe: Recipe, run_id: str, last: int) -> Tracker:
    """A run of Weights & Biases. WANDB_MODE=offline stores everything in RUN/wandb for `wandb sync`."""
    import wandb

    options: Any = {"resume": "allow", "dir": str(folder), "settings": wandb.Settings(console="off")}
    config = recipe.model_dump(mode="json")
    run: Tracker = wandb.init(project=PROJECT, name=folder.name, id=run_id, config=config, **options)
    return run


TRACKERS: dict[str, Callable[[Path, Recipe, str, int], Tracker]] = {
    "tensorboard": TensorBoard,
    "trackio": start_trackio,
    "wandb": start_wandb,
}


class Ledger:
    """RUN/trackers.json: the run id and the last logged step of each tracker."""

    def __init__(self, folder: Path) -> None:
        self._path, self._lock = folder / "trackers.json", threading.Lock()
        self._entries: dict[str, dict[str, Any]] = read_json(self._path) if self._path.exists() else {}

    def entry(self, name: str) -> tuple[str, int]:
        try:
            entry = self._entries.setdefault(name, {"id": uuid4().hex[:12], "step": 0})
            return str(entry["id"]), int(entry["step"])
        except (LookupError, TypeError, ValueError, AttributeError):
            raise JudgeError(
                f"{self._path} does not hold the last step of {name}: remove it to log to a new run of the tracker"
            ) from None

    def accepted(self, name: str, step: int) -> None:
        with self._lock:
            self._entries[name]["step"] = step
            # After each row: a run that is killed continues with the first row that the tracker lacks.
            write_json(self._path, self._entries)


class Feed:
    """The thread of one tracker. Steps that were logged before the run resumed are not logged again."""

    def __init__(self, name: str, start: Callable[[], Tracker], ledger: Ledger, warn: Callable[[str], None]) -> None:
        self.name, self._start, self._ledger, self._warn = name, start, ledger, warn
        _, self._last = ledger.entry(name)
        self._rows: queue.Queue[tuple[int, Numbers] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._work, name=f"tracker-{name}", daemon=True)
        self._thread.start()

    def put(self, row: Mapping[str, Any]) -> None:
        if row["step"] > self._last:
            self._last = row["step"]
            self._rows.put((row["step"], {key: value for key, value in row.items() if key != "step"}))

    def finish(self, seconds: float) -> None:
        self._rows.put(None)
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._warn(f"tracker {self.name} was still busy after {seconds:.0f} s; its last rows may be missing there")

    def _work(self) -> None:
        try:
            tracker = self._start()
            while (row := self._rows.get()) is not None:
                step, numbers = row
                tracker.log(dict(numbers), step=step)
                self._ledger.accepted(self.name, step)
            tracker.finish()
        except BaseException as error:  # trackers may raise anything, even SystemExit
            reason = " ".join(str(error).split()) or type(error).__name__
            self._warn(f"tracker {self.name} failed ({reason}); training continues, and metrics.jsonl has every step")


def check_trackers(names: Sequence[str]) -> None:
    """Check that the trackers are installed.

    Raises:
        JudgeError: A tracker is not installed.
    """
    for name in names:
        if find_spec(name) is None:
            raise JudgeError(
                f"tracker {name} is not installed: pip install 'judge-r1[{name}]', or remove it from the recipe"
            )


@contextmanager
def tracked(run: RunFolder, recipe: Recipe) -> Iterator[None]:
    """Send every row that the run logs within the block to the recipe's trackers."""
    check_trackers(recipe.trackers)
    ledger = Ledger(run.folder)
    feeds = [
        Feed(name, partial(TRACKERS[name], run.folder, recipe, *ledger.entry(name)), ledger, _warn)
        for name in recipe.trackers
    ]

    def send(row: Mapping[str, Any]) -> None:
        for feed in feeds:
            feed.put(row)

    run.listeners.append(send)
    try:
        yield
    finally:
        run.listeners.remove(send)
        for feed in feeds:
            feed.finish(FINISH_SECONDS)


def _warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)
