"""Toy data and finished runs that several files of this folder read. Each is made once per process."""

from functools import cache
from pathlib import Path

import pytest
from factories import mini_pairs
from turn_recipes import Runs, evaluated_recipe, turn_recipe

from data_builders.build import write_pairs
from data_builders.splits.split import split_by_case
from judge_r1.training.recipe import Recipe, dump_recipe


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turns") / "data"
    write_pairs(mini_pairs(24), folder)
    return folder


@pytest.fixture(scope="session")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Trains SFT or DPO in one process, with checkpoints at steps 2 and 4. Returns the recipe, which is in the file
    recipe.yaml beside the run folder too, and the run folder."""
    from judge_r1.training.pipeline import run_recipe
    from judge_r1.training.resources import Resources

    @cache
    def train(stage: str) -> tuple[Recipe, Path]:
        root = tmp_path_factory.mktemp(stage)
        changes = ["dpo.epochs=2", "episode.prompt_tokens=4000"] if stage == "dpo" else []
        recipe = turn_recipe(stage, data, *changes)
        (root / "recipe.yaml").write_text(dump_recipe(recipe))
        run_recipe(recipe, root / "run", Resources(1))
        return recipe, root / "run"

    return train


@pytest.fixture(scope="session")
def split_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the pairs of `train` and `dev`."""
    home = tmp_path_factory.mktemp("split")
    for name, part in zip(("train", "dev"), split_by_case(mini_pairs(12), 0.4), strict=True):
        write_pairs(part, home / name)
    return home


@pytest.fixture(scope="session")
def evaluated(split_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Trains each stage with evaluations on the dev pairs. Returns the recipe and the run folder."""
    from data_builders.rationales.rules import recipe_rationales
    from judge_r1.training.pipeline import run_recipe

    @cache
    def train(stage: str) -> tuple[Recipe, Path]:
        resolved, folder = evaluated_recipe(stage, split_data), tmp_path_factory.mktemp(stage) / "run"
        run_recipe(resolved, folder, rationales=recipe_rationales)
        return resolved, folder

    return train
