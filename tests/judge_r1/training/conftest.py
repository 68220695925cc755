"""Toy data and finished runs that several files of this folder read. Each is made once per process."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from factories import mini_pairs
from turn_recipes import turn_recipe

from data_builders.build import write_pairs
from judge_r1.training.recipe import Recipe, dump_recipe


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("turns") / "data"
    write_pairs(mini_pairs(24), folder)
    return folder


@pytest.fixture(scope="session")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Recipe, Path]]:
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
