"""The lines that a training prints."""

import io
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from test_run_folder import RECIPE

from judge_r1.training import progress_lines as lines_module
from judge_r1.training.metric_names import TRL, VERL
from judge_r1.training.progress_lines import SHOWN, duration, progress_lines
from judge_r1.training.run_folder import RunFolder


def row(step: int) -> dict[str, Any]:
    return {"step": step, "progress": step / 10, "rollout/reward/r": 0.6, "rollout/accuracy": 0.8, "time/step": 3.0}


def test_lines_show_metrics_that_the_engines_write() -> None:
    written = {*TRL.values(), *VERL.values()}
    for name in SHOWN:
        assert name in written or name.startswith(("rollout/", "time/", "preference_", "frac_", "dev/")), name


def test_durations_are_readable() -> None:
    texts = [duration(seconds) for seconds in (4.4, 59.6, 200, 7400, 90_000)]
    assert texts == ["4 s", "1:00", "3:20", "2:03:20", "1 d 01:00"]


def test_training_prints_one_line_a_step(tmp_path: Path) -> None:
    run, out = RunFolder(tmp_path, RECIPE), io.StringIO()
    run.log(row(1))
    with progress_lines(run, Console(file=out, width=40)):
        run.truncate_after(1)
        run.log(row(2))
        run.log({"step": 2, "trl/train_runtime": 9.0})
    # step 1 was printed by the run that this one resumes
    assert out.getvalue() == "step 2/10  r 0.600  accuracy 0.80  seconds 3.0  left 24 s\n"
    assert run.listeners == []


def test_a_long_step_shows_that_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_SIGN_S", "SIGN_S"):
        monkeypatch.setattr(lines_module, name, 0.2)
    run, out = RunFolder(tmp_path, RECIPE), io.StringIO()
    with progress_lines(run, Console(file=out, width=40)):
        time.sleep(0.5)
        run.log(row(1))
        time.sleep(0.5)
    lines = [re.sub(r"\d s$", "N s", line) for line in out.getvalue().splitlines()]
    assert lines[0] == "no step yet: N s"
    assert lines[-1] == "no step since step 1: N s"
    assert "waiting" not in {thread.name for thread in threading.enumerate()}


def test_only_the_first_process_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    run, out = RunFolder(tmp_path, RECIPE), io.StringIO()
    with progress_lines(run, Console(file=out)):
        run.log(row(1))
    assert out.getvalue() == ""
