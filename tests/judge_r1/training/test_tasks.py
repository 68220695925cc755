"""Both orders in a group, single reasonings and lists: what recipes may combine, rows in the order of training, and the
advantages of EIS-GRPO (J4R, arXiv 2505.13346) on the hand-computed case."""

from pathlib import Path
from typing import Any

import pytest
from factories import mini_variants
from paths import RECIPES

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.files.yaml_config import ConfigError
from judge_r1.training.data.training_pairs import question_rows
from judge_r1.training.metric_names import consistency
from judge_r1.training.recipe import load_recipe
from judge_r1.training.stage_config import GrpoConfig
from judge_r1.training.verl.config import overrides

DATA = mini_variants(6, 3)


@pytest.mark.parametrize(
    ("grpo", "message"),
    [
        ({"orders": 2, "group_size": 5}, "group_size 5 must be even"),
        ({"orders": 2, "group_size": 4, "task": "pointwise"}, "task: pointwise shows one"),
        ({"pointwise_pairs": "all"}, "set task: pointwise"),
        ({"tool_credit": "tir", "advantage": "decoupled"}, "reads R1 and R2"),
        ({"task": "listwise", "advantage": "decoupled"}, "a list names no principles"),
        (
            {"task": "pointwise", "pointwise_pairs": "all", "advantage": "decoupled", "engine": "verl"},
            "R1 and R2 cannot be read from it",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(grpo: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GrpoConfig.model_validate(grpo)


def test_a_prompt_that_compares_two_is_refused_for_one() -> None:
    given = ["episode.prompt=table6", "episode.search=false", "grpo.group_size=4"]
    for option in ("grpo.task=pointwise", "grpo.task=listwise"):
        with pytest.raises(ConfigError, match="compares two reasonings"):
            load_recipe(RECIPES / "parity.yaml", [*given, option])


def test_both_reasonings_of_a_pair_need_one_worker() -> None:
    recipe = load_recipe(RECIPES / "beyond" / "pointwise.yaml", ["grpo.pairs_per_step=6"])
    paths = {"train_parquet": Path("t"), "dev_parquet": Path("d"), "agent_loops": Path("a"), "checkpoints": Path("c")}
    keys = overrides(recipe, **paths, cpu=False, gpus=8)  # type: ignore[arg-type]
    assert "data.train_batch_size=12" in keys
    assert "actor_rollout_ref.actor.ppo_mini_batch_size=6" in keys
    with pytest.raises(JudgeError, match="multiple of the 4 workers"):
        overrides(recipe, **paths, cpu=True, gpus=1, nodes=4)  # type: ignore[arg-type]


def test_both_reasonings_of_a_pair_are_rows_that_follow_each_other() -> None:
    recipe = load_recipe(RECIPES / "parity.yaml", ["grpo.task=pointwise"])
    keys = question_rows(recipe, DATA)
    assert len(keys) == 2 * recipe.grpo.steps * recipe.grpo.pairs_per_step
    pairs = question_rows(load_recipe(RECIPES / "parity.yaml"), DATA)
    assert keys == [f"{pair}:{side}" for pair in pairs for side in ("reference", "flawed")]
    lists = question_rows(load_recipe(RECIPES / "parity.yaml", ["grpo.task=listwise"]), DATA)
    assert len(lists) == recipe.grpo.steps * recipe.grpo.pairs_per_step
    assert all(key.count("+") >= 1 for key in lists)


def test_both_orders_share_a_baseline() -> None:
    """J4R's case: the order that always fails gets a gradient in one group, and none in its own."""
    pytest.importorskip("verl", reason="verl is not installed: pip install 'judge-r1[verl]'")
    import numpy as np
    import torch

    from judge_r1.training.verl.advantage import group_advantage

    rewards = torch.tensor([[1.0], [1.0], [0.0], [0.0], [0.0], [0.0]])

    def found(index: list[int]) -> list[float]:
        advantages, _ = group_advantage(rewards, torch.ones(6, 1), np.array(index, dtype=object))
        return [float(one) for one in advantages[:, 0]]

    assert found([0] * 6) == pytest.approx([1.2907, 1.2907, *[-0.6454] * 4], abs=2e-4)
    assert found([0, 0, 0, 1, 1, 1]) == pytest.approx([0.5773, 0.5773, -1.1545, 0, 0, 0], abs=2e-4)


def episode(right: bool | None, ended: str = "answer") -> Trajectory:
    reward = {"r": 0.0, "R1": 2.0 if right else -2.0, "R2": 0.0, "valid": float(right is not None)}
    return Trajectory.without_ids(ended).model_copy(update={"reward": reward})


def test_consistency_is_the_share_of_pairs_of_episodes_that_agree() -> None:
    group = [episode(True), episode(True), episode(True), episode(False)]
    assert consistency([group]) == {"rollout/consistency": 0.5}
    assert consistency([group, [episode(True)] * 4]) == {"rollout/consistency": 0.75}
    # An invalid answer prefers neither, and a lost episode says nothing.
    assert consistency([[episode(None), episode(False), episode(False), episode(True, "infrastructure_x")]]) == {
        "rollout/consistency": 1.0
    }
    assert consistency([[episode(None), episode(None), episode(True), episode(True)]]) == {}
