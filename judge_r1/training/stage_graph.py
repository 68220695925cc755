"""Lists the runs that a recipe needs: those that it starts from, then its own."""

from collections.abc import Sequence
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.models.hub import check_name
from judge_r1.models.pretrained import ModelUnavailable
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import finished
from judge_r1.training.shipped_recipes import recipe_names

StageRun = tuple[Recipe, Path]
"""A recipe with its resolved model, and its run folder."""


def stage_runs(recipe: Recipe, folder: Path) -> list[StageRun]:
    """The runs of a recipe in order: those it starts from, in sibling folders of their names, then its own in `folder`.

    Raises:
        JudgeError: Two runs would share a folder.
    """
    if recipe.start is None:
        return [(recipe, folder)]
    before = stage_runs(recipe.start, folder.parent / recipe.start.name)
    if folder in [other for _, other in before]:
        raise JudgeError(f"recipe {recipe.name} and a recipe it starts from would both run in {folder}: rename one")
    model = before[-1][1] / "model"
    return [*before, (recipe.model_copy(update={"model": str(model)}), folder)]


def remaining_stages(stages: Sequence[StageRun]) -> list[StageRun]:
    """The last finished run and all after it. The finished one is included so that its folder's recipe, which holds
    the recipes before it, is checked against this one."""
    last = max((index for index, (_, folder) in enumerate(stages) if finished(folder)), default=0)
    return list(stages[last:])


def check_model(recipe: Recipe) -> None:
    """Raises JudgeError if there is no such model. For that of a shipped recipe, the message names the command."""
    try:
        check_name(recipe.model)
    except ModelUnavailable:
        folder = Path(recipe.model)
        name = "/".join(folder.parts[1:-1])
        if folder.exists() or folder != Path("runs", name, "model") or name not in recipe_names():
            raise
        raise JudgeError(
            f"recipe {recipe.name}: its model {folder} does not exist: make it with `judge-r1 train {name} "
            f"--out {folder.parent}`, or give another as model=MODEL"
        ) from None
