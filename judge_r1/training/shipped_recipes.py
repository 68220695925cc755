"""Finds the recipes that ship with the package: `mini/warmup` or `recipes/mini/warmup.yaml`, from any folder."""

from difflib import get_close_matches
from pathlib import Path

from judge_r1.core.folders import name_below
from judge_r1.core.registry import UnknownName

_PACKAGE = Path(__file__).resolve().parents[1]
SHOWN = 20
"""Recipes of a folder that a message names."""


def shipped_folder(name: str) -> Path:
    """`judge_r1/NAME` in an installed wheel, `NAME` beside the package in a clone or an editable install."""
    installed = _PACKAGE / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def recipes_folder() -> Path:
    return shipped_folder("recipes")


def recipe_names() -> list[str]:
    folder = recipes_folder()
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.yaml"))


def find_recipe(recipe: Path) -> Path:
    """The file of a recipe.

    A file that exists wins. Otherwise `recipe` is the name of a shipped recipe, with or without `recipes/` and `.yaml`.
    Returns an absolute path unchanged.

    Raises:
        UnknownName: There is neither, or `recipe` is a folder. The message names the nearest files.
    """
    if recipe.is_dir():
        raise UnknownName(f"{recipe} is a folder, and a recipe is one YAML file: {_advice(recipe)}")
    if recipe.exists() or recipe.is_absolute():
        return recipe
    name, names = recipe.as_posix().removeprefix("recipes/").removesuffix(".yaml"), recipe_names()
    if name in names:
        return recipes_folder() / f"{name}.yaml"
    if inside := [shipped for shipped in names if shipped.startswith(f"{name}/")]:
        raise UnknownName(f"{recipe} is a folder of recipes: name one, such as {', '.join(inside[:SHOWN])}")
    known = {shipped: f"recipes/{shipped}.yaml" for shipped in names}
    known |= {path.with_suffix("").as_posix(): str(path) for path in recipe.parent.glob("*.y*ml")}
    wanted = Path(name).with_suffix("")
    near = [one for one in known if Path(one).name == wanted.as_posix()]  # without its folder
    if not near:  # equal folders make no name near
        alike = get_close_matches(wanted.as_posix(), known)
        near = [one for one in alike if get_close_matches(wanted.name, [Path(one).name])][:1]
    near = [known[one] for one in near]
    folders = sorted({str(Path(path).parent) for path in known.values()})
    hint = f"did you mean {' or '.join(near)}?" if near else f"there are recipes in {', '.join(folders)}"
    raise UnknownName(f"there is no recipe {recipe}; {hint}")


def _advice(folder: Path) -> str:
    """What to do with a folder that stands in the place of a recipe."""
    if (folder / "recipe.yaml").is_file():
        return f"this is the folder of a run, which `judge-r1 train {folder / 'recipe.yaml'} --out {folder}` resumes"
    if (folder / "pairs.jsonl").is_file():
        return f"to train on these pairs: judge-r1 train RECIPE data.train={folder}, such as recipes/mini/warmup.yaml"
    if files := sorted(str(path) for path in folder.glob("*.y*ml")):
        return f"name one, such as {', '.join(files[:SHOWN])}"
    runs = name_below(folder, "recipe.yaml", "runs")
    return f"name one, such as recipes/mini/warmup.yaml{runs}"
