"""verl on the CPU: a killed and resumed run has the same metrics as an uninterrupted one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judge_r1.files.run_log import read_rows
from judge_r1.training.recipe import Recipe, dump_recipe

STEPS = 4
COMPARED = (
    "rollout/reward/r", "rollout/accuracy", "rollout/sampled_tokens", "rollout/reward/searches", "loss",
    "grad_norm", "learning_rate", "verl/critic/advantages/mean", "kl",
)  # fmt: skip
"""The compared metrics, of rollouts and updates."""


def start(recipe: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "judge_r1.cli", "train", str(recipe), "--out", str(out)]
    with (out.parent / f"{out.name}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def finished(process: subprocess.Popen[bytes], out: Path) -> None:
    assert process.wait(timeout=900) == 0, (out.parent / f"{out.name}.log").read_text()[-2000:]


def kill_all(process: subprocess.Popen[bytes], out: Path) -> None:
    """Kill -9 the command, verl and all Ray processes, which have this run's folder in their environment."""
    folder = str((out / "verl").absolute()).encode()
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and folder in (entry / "environ").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_verl_resumes_from_its_last_checkpoint(recipe: Recipe, answering_model: Path, tmp_path: Path) -> None:
    grpo = recipe.grpo.model_copy(update={"steps": STEPS, "engine": "verl"})
    changed = recipe.model_copy(update={"model": str(answering_model), "grpo": grpo, "save_every": 1})
    file = tmp_path / "recipe.yaml"
    file.write_text(dump_recipe(changed), encoding="utf-8")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    finished(start(file, whole), whole)
    process = start(file, killed)
    deadline = time.monotonic() + 900
    while len(read_rows(killed / "metrics.jsonl")) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() is None, "the run ended before it was killed"
    kill_all(process, killed)
    finished(start(file, killed), killed)

    rows, again = (read_rows(folder / "metrics.jsonl") for folder in (whole, killed))
    assert [row["step"] for row in again] == [row["step"] for row in rows] == list(range(1, STEPS + 1))
    assert any(row["grad_norm"] > 0 for row in rows)
    for one, other in zip(rows, again, strict=True):
        assert {k: one[k] for k in COMPARED} == pytest.approx({k: other[k] for k in COMPARED}, rel=1e-3, abs=1e-5)
