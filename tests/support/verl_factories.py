"""Composes verl's configuration for tests."""

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from judge_r1.training.recipe import Recipe
from judge_r1.training.verl.check_keys import composed
from judge_r1.training.verl.config import overrides


def compose(keys: list[str]) -> Any:
    """The configuration as verl's trainer sees it, with verl's own checks."""
    return deepcopy(_compose(tuple(keys)))


@cache
def _compose(keys: tuple[str, ...]) -> Any:
    from verl.trainer.ppo.utils import need_critic, need_reference_policy
    from verl.utils.config import validate_config

    config = composed(keys)
    validate_config(config, use_reference_policy=need_reference_policy(config), use_critic=need_critic(config))
    return config


def keys_of(
    recipe: Recipe, *, cpu: bool = True, gpus: int = 1, folder: Path = Path("/runs/it's a=b"), **more: Any
) -> list[str]:
    paths = {"train_parquet": "train.parquet", "agent_loops": "agent_loops.yaml", "checkpoints": "checkpoints"}
    places = {name: folder / file for name, file in paths.items()}
    return overrides(recipe, **places, cpu=cpu, gpus=gpus, **more)
