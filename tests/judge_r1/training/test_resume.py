"""A stopped and resumed run equals an uninterrupted one: same order, same metrics, same weights."""

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs
from paths import RECIPES
from turn_recipes import timeless_rows

from data_builders.build import write_pairs
from data_builders.rationales.rules import recipe_traces
from judge_r1.core.errors import JudgeError
from judge_r1.core.run_log import read_rows
from judge_r1.training.checkpoints import checkpoints
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.run_folder import RunFolder

RECIPES = RECIPES / "mini"
SFT = ["sft.traces=12", "sft.max_steps=5", "sft.batch_size=4", "sft.micro_batch_size=4", "save_every=2"]
GRPO = [
    "model=bundled:tiny", "grpo.steps=4", "grpo.pairs_per_step=2", "grpo.group_size=2", "grpo.micro_batch_size=2",
    "grpo.updates_per_step=2", "episode.budget.response_tokens=8", "save_every=1",
]  # fmt: skip
"""Both stages end in the middle of a later epoch: SFT has 3 steps an epoch, GRPO 1.5."""


class Killed(Exception):
    pass


def recipe(stage: str, data: Path) -> Recipe:
    name, changes = ("warmup", SFT) if stage == "sft" else ("grpo", GRPO)
    return load_recipe(RECIPES / f"{name}.yaml", [*changes, f"data.train={data}"])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Recipe, Path]]:
    """Trains each stage once in this module. Returns the recipe and the run folder."""

    @cache
    def train(stage: str) -> tuple[Recipe, Path]:
        root = tmp_path_factory.mktemp(stage)
        write_pairs(mini_pairs(12 if stage == "sft" else 3), root / "data")
        resolved = recipe(stage, root / "data")
        run_recipe(resolved, root / "run", rationales=recipe_traces)
        return resolved, root / "run"

    return train


@pytest.mark.parametrize(("stage", "killed_at"), [("sft", 5), ("grpo", 3)])
def test_a_resumed_run_equals_an_uninterrupted_one(
    stage: str,
    killed_at: int,
    finished: Callable[[str], tuple[Recipe, Path]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both runs cross the end of an epoch. The kill comes after one checkpoint and before the next."""
    import torch
    from transformers import AutoModelForCausalLM

    (resolved, whole), log, killed = finished(stage), RunFolder.log, tmp_path / "killed"

    def kill(run: RunFolder, row: dict[str, Any]) -> None:
        if row["step"] == killed_at:
            raise Killed
        log(run, row)

    with monkeypatch.context() as patched:
        patched.setattr(RunFolder, "log", kill)
        with pytest.raises(Killed):
            run_recipe(resolved, killed, rationales=recipe_traces)
    run_recipe(resolved, killed, rationales=recipe_traces)
    expected, rows = timeless_rows(whole), timeless_rows(killed)
    assert [row["step"] for row in rows] == [row["step"] for row in expected]
    for one, other in zip(rows[:-1], expected[:-1], strict=True):  # the last row sums up one call of the trainer
        assert one == pytest.approx(other, nan_ok=True)
    assert read_rows(whole / "traces.jsonl") == read_rows(killed / "traces.jsonl")
    models = [AutoModelForCausalLM.from_pretrained(folder / "model") for folder in (whole, killed)]
    for one, other in zip(models[0].parameters(), models[1].parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("stage", ["sft", "grpo"])
def test_a_run_that_lacks_only_its_model_is_not_trained_further(
    stage: str, finished: Callable[[str], tuple[Recipe, Path]], tmp_path: Path
) -> None:
    """A kill after the last checkpoint leaves such a run. SFT's `max_steps` ends it in the middle of an epoch."""
    resolved, whole = finished(stage)
    run, saved = tmp_path / "run", "model/model.safetensors"
    shutil.copytree(whole, run)
    shutil.rmtree(run / "model")
    steps = {row["step"] for row in timeless_rows(run)}
    assert max(checkpoint.step for checkpoint in checkpoints(run / "checkpoints", updates(resolved))) == max(steps)
    run_recipe(resolved, run, rationales=recipe_traces)
    assert {row["step"] for row in timeless_rows(run)} == steps
    assert (run / saved).read_bytes() == (whole / saved).read_bytes()


def updates(recipe: Recipe) -> int:
    """Optimiser updates a step."""
    return recipe.grpo.updates_per_step if recipe.stage == "grpo" else 1


def test_pairs_that_do_not_fill_a_step_are_refused(tmp_path: Path) -> None:
    write_pairs(mini_pairs(3), tmp_path / "data")
    few = recipe("grpo", tmp_path / "data")
    grpo = few.grpo.model_copy(update={"pairs_per_step": 1000, "micro_batch_size": 1000})
    with pytest.raises(JudgeError, match=r"pairs do not fill one step of grpo\.pairs_per_step 1000"):
        run_recipe(few.model_copy(update={"grpo": grpo}), tmp_path / "run")
    assert not (tmp_path / "run" / "model").exists()
