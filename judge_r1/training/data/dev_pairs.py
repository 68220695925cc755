"""The held-out pairs that a run evaluates on while it trains."""

from collections.abc import Mapping

from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PairSet
from judge_r1.core.record_base import content_hash
from judge_r1.training.data.training_pairs import training_pairs
from judge_r1.training.recipe import Recipe


def dev_pairs(recipe: Recipe, train: PairSet) -> PairSet | None:
    """The dev pairs of a recipe: all, or `eval_pairs` chosen by the seed. None without `data.dev`.

    Raises:
        JudgeError: A case, or two cases of one article, are in both folders.
    """
    if recipe.data.dev is None:
        return None
    data = training_pairs(recipe.data.dev)
    known = {case.group for case in train.cases.values()}
    if shared := sorted({case.group for case in data.cases.values()} & known):
        raise JudgeError(
            f"recipe {recipe.name}: data.dev {recipe.data.dev} and data.train {recipe.data.train} share "
            f"{len(shared)} case(s), or articles of cases, for example {shared[0]}: split them by case "
            "(`judge-r1 split --dev-share`)"
        )
    by_id = data.by_id()
    return PairSet(data.cases, [by_id[pair_id] for pair_id in chosen_ids(by_id, recipe)])


def chosen_ids(pair_ids: Mapping[str, object], recipe: Recipe) -> list[str]:
    """The ids of the dev pairs, in the order of the file. A larger `eval_pairs` includes the pairs of a smaller one."""
    if recipe.eval_pairs is None:
        return list(pair_ids)
    ranked = sorted(pair_ids, key=lambda pair_id: content_hash("dev", recipe.seed, pair_id))
    chosen = set(ranked[: recipe.eval_pairs])
    return [pair_id for pair_id in pair_ids if pair_id in chosen]
