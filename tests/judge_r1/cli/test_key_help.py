"""The help of commands with `key=value` lists each key of their models, with its values, text and default."""

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from data_builders.build_recipe import BuildRecipe, RationalesRecipe
from data_builders.generators.cofluence import CofluenceOptions
from judge_r1.cli import app
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.training.recipe import Recipe
from judge_r1.training.stage_config import GrpoConfig


@pytest.mark.parametrize(
    ("command", "models", "shown"),
    [
        ("build", [BuildRecipe, CofluenceOptions], "same seed, same bytes [default: 0]"),
        ("rationales", [RationalesRecipe], "count int rationales to write [default: 2000]"),
        ("train", [Recipe, EpisodeConfig, Budget, GrpoConfig], "Sampled tokens in one turn. [default: 1000]"),
    ],
)
def test_each_key_is_listed(command: str, models: list[type[BaseModel]], shown: str) -> None:
    found = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    keys = {line.strip("│ ").partition(" ")[0] for line in found.splitlines()}
    assert {name for model in models for name in model.model_fields} <= keys
    assert shown in " ".join(found.split())
