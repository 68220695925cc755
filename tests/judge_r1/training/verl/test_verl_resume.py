"""verl on the processor, killed and taken up again: the steps are those of a run never killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judge_r1.core.run_log import read_rows
from judge_r1.training.recipe import Recipe, dump_recipe

STEPS = 4
SAME = (
    "rollout/reward/r", "rollout/accuracy", "rollout/sampled_tokens", "rollout/reward/searches", "loss",
    "grad_norm", "learning_rate", "verl/critic/advantages/mean", "kl",
)  # fmt: skip
"""What is compared: what was played, and what was learned from it."""


def start(recipe: Path, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "judge_r1.cli", "train", str(recipe), "--out", str(out)]
    with (out.parent / f"{out.name}.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def finished(process: subprocess.Popen[bytes], out: Path) -> None:
    assert process.wait(timeout=900) == 0, (out.parent / f"{out.name}.log").read_text()[-2000:]


def kill_all(process: subprocess.Popen[bytes], out: Path) -> None:
    """kill -9 for the command, verl and every process of its Ray: those that were started with this run's folder in
    their environment."""
    mark = str((out / "verl").absolute()).encode()
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and mark in (entry / "environ").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_verl_goes_on_from_its_last_checkpoint(recipe: Recipe, guesser: Path, tmp_path: Path) -> None:
    grpo = recipe.grpo.model_copy(update={"steps": STEPS, "engine": "verl"})
    changed = recipe.model_copy(update={"model": str(guesser), "grpo": grpo, "save_every": 1})
    file = tmp_path / "recipe.yaml"
    file.write_text(dump_recipe(changed), encoding="utf-8")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    finished(start(file, whole), whole)
    process = start(file, killed)
    until = time.monotonic() + 900
    while len(read_rows(killed / "metrics.jsonl")) < 2 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    assert process.poll() is None, "the run ended before it was killed"
    kill_all(process, killed)
    finished(start(file, killed), killed)

    rows, again = (read_rows(folder / "metrics.jsonl") for folder in (whole, killed))
    assert [row["step"] for row in again] == [row["step"] for row in rows] == list(range(1, STEPS + 1))
    assert any(row["grad_norm"] > 0 for row in rows)
    for one, other in zip(rows, again, strict=True):
        assert {k: one[k] for k in SAME} == pytest.approx({k: other[k] for k in SAME}, rel=1e-3, abs=1e-5)
