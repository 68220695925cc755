"""Finds the recipes that ship with the package: `mini/warmup` or `recipes/mini/warmup.yaml`, from any folder."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def recipes_folder() -> Path:
    """`judge_r1/recipes` in an installed wheel, `recipes` beside the package in a clone or an editable install."""
    installed = _PACKAGE / "recipes"
    return installed if installed.is_dir() else _PACKAGE.parent / "recipes"


def recipe_names() -> list[str]:
    folder = recipes_folder()
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml"))


def find_recipe(recipe: Path) -> Path:
    """The file of a recipe.

    A file that exists wins. Otherwise `recipe` is the name of a shipped recipe, with or without `recipes/` and `.yaml`.
    Returns `recipe` unchanged if there is neither.
    """
    if recipe.exists() or recipe.is_absolute():
        return recipe
    name = recipe.as_posix().removeprefix("recipes/").removesuffix(".yaml")
    return recipes_folder() / f"{name}.yaml" if name in recipe_names() else recipe
