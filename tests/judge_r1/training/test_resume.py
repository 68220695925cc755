"""A stopped and resumed run equals an uninterrupted one: same order, same metrics, same best model, same weights."""

import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from command_server import TRAINING, run
from factories import mini_pairs
from turn_recipes import Runs, evaluated_recipe, evaluations, timeless_rows, weights

from data_builders.build import write_pairs
from data_builders.rationales.rules import recipe_rationales
from judge_r1.core.errors import JudgeError
from judge_r1.files.run_log import read_rows
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.pipeline import run_recipe

KILL_AT_STEP_3 = """
import os, signal, sys
from pathlib import Path
from data_builders.rationales.rules import recipe_rationales
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import load_recipe
from judge_r1.training.run_folder import RunFolder
log = RunFolder.log
def kill(run, row):
    log(run, row)
    if row["step"] == 3: os.kill(os.getpid(), signal.SIGKILL)
RunFolder.log = kill
run_recipe(load_recipe(Path(sys.argv[1])), Path(sys.argv[2]), rationales=recipe_rationales)
"""


@pytest.mark.parametrize("stage", ["sft", "grpo"])
def test_a_killed_and_resumed_run_equals_an_uninterrupted_one(stage: str, evaluated: Runs, tmp_path: Path) -> None:
    """Both runs end in a later epoch. kill -9 comes at the first row after an evaluation and a checkpoint."""
    (resolved, whole), killed = evaluated(stage), tmp_path / "killed"
    done = run(whole / "recipe.yaml", killed, code=KILL_AT_STEP_3, modules=TRAINING, timeout=500)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert evaluations(killed).keys() == {2}
    run_recipe(resolved, killed, rationales=recipe_rationales)

    def rows(folder: Path) -> list[dict[str, Any]]:
        return [row for row in timeless_rows(folder) if "progress" in row]

    for one, other in zip(rows(killed), rows(whole), strict=True):
        assert one == pytest.approx(other, nan_ok=True)
    assert evaluations(killed) == evaluations(whole)
    assert (killed / "best.json").read_bytes() == (whole / "best.json").read_bytes()
    assert read_rows(whole / "traces.jsonl") == read_rows(killed / "traces.jsonl")
    expected = weights(whole)
    assert all(torch.equal(parameter, expected[name]) for name, parameter in weights(killed).items())


@pytest.mark.parametrize("stage", ["sft", "grpo"])
def test_a_run_that_lacks_only_its_model_is_not_trained_further(stage: str, evaluated: Runs, tmp_path: Path) -> None:
    """A kill after the last checkpoint leaves such a run. SFT's `max_steps` ends it in the middle of an epoch."""
    resolved, whole = evaluated(stage)
    folder, saved = tmp_path / "run", "model/model.safetensors"
    shutil.copytree(whole, folder, ignore=shutil.ignore_patterns("model"))
    steps = {row["step"] for row in timeless_rows(folder)}
    assert max(checkpoint.step for checkpoint in checkpoints(folder / "checkpoints", resolved.updates)) == max(steps)
    run_recipe(resolved, folder, rationales=recipe_rationales)
    assert {row["step"] for row in timeless_rows(folder)} == steps
    assert (folder / saved).read_bytes() == (whole / saved).read_bytes()


def test_pairs_that_do_not_fill_a_step_are_refused(tmp_path: Path) -> None:
    write_pairs(mini_pairs(3), tmp_path / "train")
    changes = ("data.dev=null", "eval_every=null", "eval_pairs=null", "grpo.pairs_per_step=1000")
    few = evaluated_recipe("grpo", tmp_path, *changes, "grpo.micro_batch_size=1000")
    with pytest.raises(JudgeError, match=r"pairs are too few for one step of grpo\.pairs_per_step 1000"):
        run_recipe(few, tmp_path / "run")
    assert not (tmp_path / "run" / "model").exists()
