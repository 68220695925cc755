"""Names of shipped recipes."""

import re
from pathlib import Path

import pytest
from paths import RECIPES

from judge_r1.core.errors import JudgeError
from judge_r1.core.registry import UnknownName
from judge_r1.episode.config import recipe_episode
from judge_r1.training.recipe import load_recipe
from judge_r1.training.shipped_recipes import find_recipe, recipe_names


@pytest.mark.parametrize("name", ["mini/warmup", "mini/warmup.yaml", "recipes/mini/warmup", "recipes/mini/warmup.yaml"])
def test_spellings_of_a_shipped_recipe(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_recipe(Path(name)) == RECIPES / "mini" / "warmup.yaml"
    assert load_recipe(Path(name)) == load_recipe(RECIPES / "mini" / "warmup.yaml")


def test_a_local_file_takes_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    local = Path("recipes/mini/warmup.yaml")
    local.parent.mkdir(parents=True)
    local.write_text("name: own")
    assert find_recipe(local) == local


def test_an_unknown_name_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "mini/warmup" in recipe_names()
    Path("own").mkdir()
    Path("own/recipe.yaml").touch()
    for name, hint in (
        ("recipes/mini/wramup.yaml", "did you mean recipes/mini/warmup.yaml?"),
        ("mini/grpo.yml", "did you mean recipes/mini/grpo.yaml?"),
        ("own/recpie.yaml", "did you mean own/recipe.yaml?"),
        ("recipes/mini/nofile.yaml", "there are recipes in recipes, recipes/bases, "),
        ("recipes/x.yml", "there are recipes in recipes, recipes/bases, "),
    ):
        with pytest.raises(UnknownName, match=re.escape(f"there is no recipe {name}; {hint}")):
            load_recipe(Path(name))
    with pytest.raises(UnknownName, match=r"did you mean recipes/bases/grpo\.yaml or .* or recipes/mini/grpo\.yaml\?"):
        load_recipe(Path("grpo"))


def test_a_folder_is_not_a_recipe_and_the_error_names_what_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("run/recipe.yaml", "data/pairs.jsonl", "mine/b.yaml", "mine/a.yml", "runs/one/recipe.yaml", "none/x"):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).touch()
    folder = "is a folder, and a recipe is one YAML file: "
    for name, message in (
        ("run", f"run {folder}this is the folder of a run, which `judge-r1 train run/recipe.yaml --out run` resumes"),
        ("data", f"data {folder}to train on these pairs: judge-r1 train RECIPE data.train=data, such as recipes/mini"),
        ("mine", f"mine {folder}name one, such as mine/a.yml, mine/b.yaml"),
        ("runs", f"runs {folder}name one, such as recipes/mini/warmup.yaml; runs below runs: runs/one"),
        ("none", f"none {folder}name one, such as recipes/mini/warmup.yaml"),
        (f"{tmp_path}/mine", f"{tmp_path}/mine {folder}name one, such as {tmp_path}/mine/a.yml, "),
        ("mini", "mini is a folder of recipes: name one, such as mini/base, mini/dpo, "),
        ("recipes/sizes/", "recipes/sizes is a folder of recipes: name one, such as sizes/"),
    ):
        with pytest.raises(UnknownName, match=re.escape(message)):
            load_recipe(Path(name))
    with pytest.raises(JudgeError, match=re.escape("mine is a folder: name a YAML file in it, such as a.yml, b.yaml")):
        recipe_episode(Path("mine"))
