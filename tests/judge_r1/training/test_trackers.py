"""Experiment trackers: real ones without network access, and a recording one."""

import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paths import REPO, SUPPORT
from turn_recipes import RECIPE

from judge_r1.core.errors import JudgeError
from judge_r1.core.run_log import read_rows
from judge_r1.training import trackers
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trackers import Numbers, tracked


def recipe(*names: str) -> Recipe:
    return Recipe.model_validate(RECIPE.model_dump() | {"trackers": names})


def log_steps(folder: Path, resolved: Recipe, *steps: int) -> RunFolder:
    run = RunFolder(folder, resolved)
    with tracked(run, resolved):
        for step in steps:
            run.log({"step": step, "loss": 1 / step, "rollout/accuracy": 0.5})
    return run


class RecordingTracker:
    """Records the steps that it receives. It fails at the step `fails_at` and takes `seconds` for each step."""

    steps: list[int]
    fails_at: int | None = None
    seconds = 0.0

    def __init__(self, folder: Path, recipe: Recipe, run_id: str, last: int) -> None:
        self.run_id = run_id

    def log(self, numbers: Numbers, /, *, step: int) -> None:
        time.sleep(self.seconds)
        if step == self.fails_at:
            raise SystemExit("no network")
        assert "step" not in numbers
        self.steps.append(step)

    def finish(self) -> None:
        self.steps.append(-1)


@pytest.fixture
def tracker(monkeypatch: pytest.MonkeyPatch) -> type[RecordingTracker]:
    class Fresh(RecordingTracker):
        steps: list[int] = []  # noqa: RUF012

    monkeypatch.setitem(trackers.TRACKERS, "tensorboard", Fresh)
    return Fresh


def test_a_resumed_run_sends_no_step_twice(tmp_path: Path, tracker: type[RecordingTracker]) -> None:
    run = log_steps(tmp_path, recipe("tensorboard"), 1, 2, 3)
    run.truncate_after(1)
    log_steps(tmp_path, recipe("tensorboard"), 2, 3, 4)
    assert tracker.steps == [1, 2, 3, -1, 4, -1]
    assert [row["step"] for row in read_rows(tmp_path / "metrics.jsonl")] == [1, 2, 3, 4]


def test_training_continues_when_a_tracker_fails(
    tmp_path: Path, tracker: type[RecordingTracker], capsys: pytest.CaptureFixture[str]
) -> None:
    tracker.fails_at = 2
    log_steps(tmp_path, recipe("tensorboard"), 1, 2, 3)
    assert tracker.steps == [1]
    assert "tracker tensorboard failed (no network); training continues" in capsys.readouterr().err
    assert [row["step"] for row in read_rows(tmp_path / "metrics.jsonl")] == [1, 2, 3]
    tracker.fails_at = None
    log_steps(tmp_path, recipe("tensorboard"), 3, 4)  # a later attempt does not send the missed step again
    assert tracker.steps == [1, 3, 4, -1]


def test_training_does_not_wait_for_a_hanging_tracker(
    tmp_path: Path, tracker: type[RecordingTracker], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tracker.seconds = 30.0
    monkeypatch.setattr(trackers, "FINISH_SECONDS", 0.2)
    started = time.monotonic()
    log_steps(tmp_path, recipe("tensorboard"), 1, 2)
    assert time.monotonic() - started < 5
    assert "was still busy after 0 s; its last rows may be missing there" in capsys.readouterr().err


def test_a_tracker_that_is_not_installed_is_a_one_line_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trackers, "find_spec", lambda name: None)
    with pytest.raises(JudgeError, match=r"tracker trackio is not installed: pip install 'judge-r1\[trackio\]'"):
        log_steps(tmp_path, recipe("trackio"), 1)


def test_tensorboard_holds_every_step_once(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log_steps(tmp_path, recipe("tensorboard"), 1, 2, 3).truncate_after(2)
    # a kill within a step leaves rows that the ledger does not have
    stray = trackers.TensorBoard(tmp_path, RECIPE, "", 0)
    stray.log({"loss": 9.0}, step=4)
    stray.finish()
    log_steps(tmp_path, recipe("tensorboard"), 3, 4, 5)
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(event.step, pytest.approx(event.value)) for event in events.Scalars("loss")] == [
        (step, 1 / step) for step in (1, 2, 3, 4, 5)
    ]
    assert len(events.Scalars("rollout/accuracy")) == 5


SCRIPT = """
import sys
from pathlib import Path
from test_trackers import log_steps, recipe
log_steps(Path(sys.argv[1]), recipe("trackio", "wandb"), *map(int, sys.argv[2:]))
"""


@pytest.fixture(scope="module")
def tracked_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a run that logged to both trackers in two processes, the second one resumed at step 1."""
    for name in ("trackio", "wandb"):
        pytest.importorskip(name)
    home = tmp_path_factory.mktemp("home")
    import_path = ":".join(map(str, (Path(__file__).parent, SUPPORT, REPO)))
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPATH": import_path}
    env |= {"TRACKIO_DIR": str(home / "trackio"), "WANDB_MODE": "offline"}
    for steps in (("1", "2", "3"), ("2", "3", "4")):
        command = [sys.executable, "-c", SCRIPT, str(home / "run"), *steps]
        done = subprocess.run(command, env=env, timeout=200, capture_output=True, text=True, check=True)
        assert "gave up" not in done.stderr, done.stderr
    return home


def test_trackio_holds_every_step_once(tracked_run: Path) -> None:
    (path,) = (tracked_run / "trackio").glob("*.db")
    with sqlite3.connect(path) as database:
        rows: list[Any] = database.execute("SELECT run_name, step FROM metrics ORDER BY step").fetchall()
    assert [step for _, step in rows] == [1, 2, 3, 4]
    assert len({name for name, _ in rows}) == 1


def records(path: Path) -> Iterator[bytes]:
    """The records of a .wandb file: a header of 7 bytes, then LevelDB's log format (blocks of 32 KiB, each piece with a
    checksum, its length, and its kind: full, first, middle or last)."""
    data, at, record = path.read_bytes(), 7, b""
    while at + 7 <= len(data):
        if (left := 32768 - at % 32768) < 7:
            at += left
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        record += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield record
            record = b""


def test_wandb_keeps_every_step_once_offline(tracked_run: Path) -> None:
    from wandb.proto import wandb_internal_pb2

    steps, ids = [], set()
    for path in sorted((tracked_run / "run" / "wandb").glob("offline-run-*/*.wandb")):
        for data in records(path):
            record = wandb_internal_pb2.Record.FromString(data)
            if record.WhichOneof("record_type") == "history":
                steps.append(record.history.step.num)
            if record.WhichOneof("record_type") == "run":
                ids.add(record.run.run_id)
    assert sorted(steps) == [1, 2, 3, 4]
    assert len(ids) == 1
