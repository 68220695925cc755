"""The runs that a recipe needs: those it starts from, first to last, each beside the next."""

from collections.abc import Sequence
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import finished

StageRun = tuple[Recipe, Path]
"""A recipe, with the model that it will find, and its run folder."""


def stage_runs(recipe: Recipe, folder: Path) -> list[StageRun]:
    """The recipe's own run in `folder`, behind the ones that it starts from, in folders of their names beside it."""
    if recipe.start is None:
        return [(recipe, folder)]
    before = stage_runs(recipe.start, folder.parent / recipe.start.name)
    if folder in [at for _, at in before]:
        raise JudgeError(f"recipe {recipe.name} and a recipe it starts from would both run in {folder}: rename one")
    model = before[-1][1] / "model"
    return [*before, (recipe.model_copy(update={"model": str(model)}), folder)]


def remaining_stages(chain: Sequence[StageRun]) -> list[StageRun]:
    """The last trained run of the chain and all behind it. That one is looked at once more, because only its folder can
    say whether it was trained by this recipe, which holds the recipes before it."""
    last = max((at for at, (_, folder) in enumerate(chain) if finished(folder)), default=0)
    return list(chain[last:])
