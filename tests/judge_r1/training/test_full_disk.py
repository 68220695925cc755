"""A full disk ends `train` and `merge` with one sentence, leaves nothing incomplete, and training can resume.

A limit on the size of files stands for the full disk: writes fail in the same places, without mounting anything.
"""

import shutil
import subprocess
from functools import partial
from pathlib import Path

import pytest
import torch
from command_server import TRAINING, run
from turn_recipes import Runs, timeless, weights

from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe
from judge_r1.training.resources import Resources


@pytest.fixture(scope="module")
def finished(trained: Runs) -> tuple[Recipe, Path]:
    return trained("sft")


def less_than_the_model(run_folder: Path) -> int:
    """A limit in bytes under which the model of a run cannot be written."""
    return (run_folder / "model" / "model.safetensors").stat().st_size - 1


run_training = partial(run, modules=TRAINING, timeout=300)


def error_of(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 74, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("part", ["model.safetensors", "optimizer.pt"])
def test_training_stops_and_resumes_when_there_is_space(
    part: str, finished: tuple[Recipe, Path], tmp_path: Path
) -> None:
    """The checkpoint of step 4 does not fit, because `part` is larger than the limit."""
    recipe, whole = finished
    folder = tmp_path / "run"
    shutil.copytree(whole, folder, ignore=shutil.ignore_patterns("model", "checkpoint-4"))
    size = (whole / "checkpoints" / "checkpoint-4" / part).stat().st_size - 1
    message = error_of(run_training("train", whole.parent / "recipe.yaml", "--out", folder, file_bytes=size))
    assert message.startswith(f"error: {folder} could not be written (")
    assert "training can resume from step 2; " in message
    assert [checkpoint.step for checkpoint in checkpoints(folder / "checkpoints")] == [2]
    assert [path.name for path in (folder / "checkpoints").iterdir() if path.is_dir()] == ["checkpoint-2"]
    if part == "optimizer.pt":
        run_recipe(recipe, folder, Resources(1))
        assert timeless(folder) == timeless(whole)
        expected = weights(whole)
        assert all(torch.equal(parameter, expected[name]) for name, parameter in weights(folder).items())


def test_the_model_of_a_run_is_whole_or_absent(finished: tuple[Recipe, Path], tmp_path: Path) -> None:
    _, whole = finished
    folder = tmp_path / "run"
    shutil.copytree(whole, folder, ignore=shutil.ignore_patterns("model"))
    message = error_of(
        run_training("train", whole.parent / "recipe.yaml", "--out", folder, file_bytes=less_than_the_model(whole))
    )
    assert message.startswith(f"error: {folder / 'model'} could not be written (")
    assert not [path.name for path in folder.iterdir() if path.name.startswith((".", "model"))]


def test_merge_leaves_nothing(finished: tuple[Recipe, Path], tmp_path: Path) -> None:
    limit = less_than_the_model(finished[1])
    message = error_of(run_training("merge", finished[1], "--out", tmp_path / "merged", file_bytes=limit))
    assert message.startswith(f"error: {tmp_path / 'merged'} could not be written (")
    assert not list(tmp_path.iterdir())
