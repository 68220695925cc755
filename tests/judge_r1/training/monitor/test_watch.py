"""The training dashboard and its plain form, in the training process and in `judge-r1 watch`."""

import io
import os
import pty
import re
import select
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from paths import REPO
from rich.console import Console
from turn_recipes import RECIPE

from judge_r1.core.errors import JudgeError
from judge_r1.training.monitor import watch
from judge_r1.training.monitor.dashboard import duration, view
from judge_r1.training.monitor.history import History
from judge_r1.training.monitor.watch import shown, state, watch_run
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import RunFolder

ROOT = REPO


def grpo(engine: str = "trl") -> Recipe:
    data = RECIPE.model_dump() | {"stage": "grpo", "name": "test-grpo"}
    return Recipe.model_validate(data | {"grpo": data["grpo"] | {"engine": engine}})


def row(step: int, **more: float) -> dict[str, Any]:
    return {
        "step": step, "progress": step / 10, "loss": 0.5 / step, "grad_norm": 1.0, "entropy": 0.3, "kl": 0.001 * step,
        "rollout/reward/r": 0.5 + step / 20, "rollout/reward/valid": 0.9, "rollout/reward/searches": 2.0,
        "rollout/reward/evidence_hit": 0.75, "rollout/accuracy": 0.8, "frac_outcome_zero_std": 0.25,
        "frac_reward_zero_std": 0.125, "time/step": 12.0, "time/generation": 6.0, "time/search": 0.5,
        "time/score": 2.0, "time/update": 3.5, "tokens_per_second": 2345.6,
    } | more  # fmt: skip


def dashboard(recipe: Recipe, *rows: dict[str, Any], width: int = 120) -> str:
    history = History()
    for metrics in rows:
        history.add(metrics)
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(view(recipe, Path("runs/test"), history, state="training", width=width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_dashboard_shows_every_metric_of_the_run() -> None:
    text = dashboard(grpo(), *(row(step) for step in range(1, 6)))
    for part in ("test-grpo", "GRPO on trl", "step 5 of 10", "1:00 left", "2,346 tokens/s"):
        assert part in text
    for label in (
        "reward r", "valid", "searches", "evidence hits", "same outcome", "same reward", "entropy", "KL", "grad norm",
        "generation", "search", "score", "update",
    ):  # fmt: skip
        assert label in text
    assert re.search(r"reward r +0\.750 +▁▃\S▆█ +\+0\.200", text)
    assert "other" not in text
    assert "margin" not in text
    assert "failed in search" not in text
    assert "2.0% of the last episodes failed in" in dashboard(
        grpo(), row(1, **{"rollout/infrastructure_failures": 0.02})
    )


@pytest.mark.parametrize("width", [60, 80, 110, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    for line in dashboard(grpo(), *(row(step) for step in range(1, 10)), width=width).splitlines():
        assert len(line) <= width


def test_time_outside_the_stages_is_other() -> None:
    text = dashboard(grpo("verl"), row(1, **{"time/step": 20.0, "time/search": 5.0}))
    assert re.search(r"other +8\.5 s", text)  # on verl, search overlaps with generation


def test_a_run_without_steps() -> None:
    assert "no step yet" in dashboard(grpo())


def test_durations_are_readable() -> None:
    texts = [duration(seconds) for seconds in (4.4, 59.6, 200, 7400, 90_000)]
    assert texts == ["4 s", "1:00", "3:20", "2:03:20", "1 d 01:00"]


def test_without_a_terminal_training_prints_one_line_a_step(tmp_path: Path) -> None:
    run, out = RunFolder(tmp_path, grpo()), io.StringIO()
    run.log(row(1))
    with shown(run, grpo(), Console(file=out, width=40)):
        run.truncate_after(1)
        run.log(row(2))
        run.log({"step": 2, "trl/train_runtime": 9.0})
    lines = out.getvalue().splitlines()
    assert len(lines) == 1  # step 1 was printed by the run that this one resumes
    assert lines[0].startswith("step 2/10  r 0.600  accuracy 0.80  valid 0.90  searches 2.00  evidence 0.75")
    assert run.listeners == []


def test_a_long_step_shows_that_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_SIGN_S", "SIGN_S"):
        monkeypatch.setattr(watch, name, 0.2)
    run, out = RunFolder(tmp_path, grpo()), io.StringIO()
    with shown(run, grpo(), Console(file=out, width=40)):
        time.sleep(0.5)
        run.log(row(1))
        time.sleep(0.5)
    lines = [re.sub(r"\d s$", "N s", line) for line in out.getvalue().splitlines()]
    assert lines[0] == "no step yet: N s"
    assert lines[-1] == "no step since step 1: N s"
    assert "waiting" not in {thread.name for thread in threading.enumerate()}


def test_on_a_terminal_training_shows_the_dashboard(tmp_path: Path) -> None:
    run, out = RunFolder(tmp_path, grpo()), io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with shown(run, grpo(), Console(file=out, force_terminal=True, width=120)):
        for step in (1, 2, 3):
            run.log(row(step))
    assert isinstance(out.buffer, io.BytesIO)
    text = out.buffer.getvalue().decode()
    assert "step 3 of 10" in text
    assert "evidence hits" in text


def test_only_the_first_process_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    run, out = RunFolder(tmp_path, grpo()), io.StringIO()
    with shown(run, grpo(), Console(file=out)):
        run.log(row(1))
    assert out.getvalue() == ""


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="holds no run"):
        watch_run(tmp_path)


def test_watch_follows_a_run_until_it_has_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "POLL_SECONDS", 0.01)
    run, out = RunFolder(tmp_path, grpo()), io.StringIO()
    run.log(row(1))
    follower = threading.Thread(target=watch_run, args=(tmp_path, Console(file=out, width=400)), daemon=True)
    follower.start()
    for step in (2, 3):
        deadline = time.monotonic() + 20
        while len(out.getvalue().splitlines()) < step - 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        run.log(row(step))
    run.model.mkdir()
    (run.model / "config.json").write_text("{}")
    follower.join(20)
    assert not follower.is_alive()
    assert [line.split()[1] for line in out.getvalue().splitlines()] == ["1/10", "2/10", "3/10"]


def test_a_run_without_recent_rows_is_quiet(tmp_path: Path) -> None:
    run, history = RunFolder(tmp_path, grpo()), History()
    run.log(row(1))
    history.add(row(1))
    assert state(tmp_path, history) == "training"
    os.utime(tmp_path / "metrics.jsonl", (0, time.time() - 600))
    assert state(tmp_path, history) == "quiet for 10:00"
    history.add(row(2, **{"time/step": 500.0}))
    assert state(tmp_path, history) == "training"


def test_watch_on_a_pseudo_terminal(tmp_path: Path) -> None:
    """The command shows the dashboard, and Ctrl-C ends it."""
    run = RunFolder(tmp_path, grpo())
    for step in (1, 2, 3):
        run.log(row(step))
    leader, follower = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "120", "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "judge_r1.cli", "watch", str(tmp_path)]
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env=env, start_new_session=True
    )
    os.close(follower)
    text, deadline = b"", time.monotonic() + 100
    try:
        while b"tokens/s" not in text and time.monotonic() < deadline:
            if select.select([leader], [], [], 1.0)[0]:
                text += os.read(leader, 65536)
        assert "step 3 of 10" in text.decode()
        process.send_signal(2)
        assert process.wait(timeout=60) == 130
    finally:
        process.kill()
        process.wait(timeout=20)
        os.close(leader)
