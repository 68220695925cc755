from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from turn_recipes import RECIPE

from judge_r1.files.run_log import read_rows
from judge_r1.training.run_folder import Diverged, RunFolder
from judge_r1.training.trl.dev_evaluation import RunLog


def run_updates(log: RunLog, first: int, last: int, of: int, **values: Any) -> None:
    """Call the callback as a trainer does for the updates `first` to `last` of `of`."""
    for update in range(first, last + 1):
        log.on_step_begin(None, SimpleNamespace(global_step=update - 1, max_steps=of), None)
        state = SimpleNamespace(global_step=update, max_steps=of, is_world_process_zero=True)
        logs = {name: value(update) if callable(value) else value for name, value in values.items()}
        log.on_log(None, state, None, logs={name: value for name, value in logs.items() if value is not None})


def test_the_updates_of_a_step_become_one_row(tmp_path: Path) -> None:
    run = RunFolder(tmp_path, RECIPE)
    metrics = iter([{"rollout/accuracy": 0.5, "time/generation": 0.0}, {"rollout/accuracy": 1.0}])
    log = RunLog(run, updates=2, rollouts=lambda: next(metrics))
    run_updates(log, 1, 4, 4, loss=float, grad_norm=1.0, reward=lambda update: 0.25 if update % 2 else None)
    first, second = read_rows(tmp_path / "metrics.jsonl")
    assert (first["step"], first["progress"], first["loss"], first["trl/reward"]) == (1, 0.5, 1.5, 0.25)
    assert (second["step"], second["progress"], second["loss"], second["rollout/accuracy"]) == (2, 1.0, 3.5, 1.0)
    assert first["time/step"] >= first["time/update"] > 0
    assert "time/update" not in second  # the rollouts report no generation time


def test_tokens_per_second_need_a_known_previous_count(tmp_path: Path) -> None:
    log = RunLog(RunFolder(tmp_path / "a", RECIPE))
    run_updates(log, 1, 2, 9, loss=1.0, num_tokens=lambda update: 100.0 * update)
    for row in read_rows(tmp_path / "a" / "metrics.jsonl"):
        assert row["tokens_per_second"] == pytest.approx(100 / row["time/step"])
    resumed = RunLog(RunFolder(tmp_path / "b", RECIPE))
    run_updates(resumed, 6, 7, 9, loss=1.0, num_tokens=lambda update: 100.0 * update)
    first, second = read_rows(tmp_path / "b" / "metrics.jsonl")
    assert "tokens_per_second" not in first
    assert second["tokens_per_second"] == pytest.approx(100 / second["time/step"])


def test_a_diverged_run_logs_its_last_rollout_metrics(tmp_path: Path) -> None:
    log = RunLog(RunFolder(tmp_path, RECIPE), updates=2, rollouts=lambda: {"rollout/accuracy": 0.1})
    with pytest.raises(Diverged, match="step 2: grad_norm is not finite"):
        run_updates(log, 3, 3, 4, loss=1.0, grad_norm=float("nan"))
    assert read_rows(tmp_path / "metrics.jsonl") == [{"step": 2, "rollout/accuracy": 0.1}]


def test_the_final_summary_of_the_trainer_is_not_a_step(tmp_path: Path) -> None:
    log = RunLog(RunFolder(tmp_path, RECIPE))
    run_updates(log, 4, 4, 4, train_runtime=9.0, train_loss=0.5)
    assert read_rows(tmp_path / "metrics.jsonl") == [{"step": 4, "trl/train_runtime": 9.0, "trl/train_loss": 0.5}]


def test_other_processes_write_nothing(tmp_path: Path) -> None:
    log = RunLog(RunFolder(tmp_path, RECIPE))
    log.on_log(None, SimpleNamespace(global_step=1, max_steps=2, is_world_process_zero=False), None, logs={"loss": 1})
    assert read_rows(tmp_path / "metrics.jsonl") == []
