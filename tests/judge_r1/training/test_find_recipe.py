"""Names of shipped recipes."""

import re
from pathlib import Path

import pytest
from paths import RECIPES

from judge_r1.core.registry import UnknownName
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
        ("recipes/x.yml", "there are recipes in recipes, recipes/bases, "),
    ):
        with pytest.raises(UnknownName, match=re.escape(f"there is no recipe {name}; {hint}")):
            load_recipe(Path(name))
    with pytest.raises(UnknownName, match=r"did you mean recipes/bases/grpo\.yaml or .* or recipes/mini/grpo\.yaml\?"):
        load_recipe(Path("grpo"))
