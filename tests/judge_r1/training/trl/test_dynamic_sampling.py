"""Dynamic sampling: groups with identical outcomes are replaced by other pairs, a bounded number of times."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs

from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.models.base import Sampling
from judge_r1.training.dynamic_sampling import REDRAWS, PairReserve, same_outcome
from judge_r1.training.recipe import DataConfig, Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.stage_config import GrpoConfig
from judge_r1.training.trl.grpo import TrlRollouts

Rule = Callable[[str, int], bool]
"""(pair id, index of the episode in its group) -> whether its comparison is right."""


def episode(right: bool, *, f1: float = 0.0, ended: str = "answer") -> Trajectory:
    reward = {"r": 0.5, "R1": 2.0 if right else -2.0, "R2": 2 * f1 - 1, "f1": f1}
    return Trajectory(
        prompt_ids=(1,), token_ids=(2,), loss_mask=(1,), logprobs=(-1.0,), turns=(), judgment=None, ended=ended,
        reward=reward,
    )  # fmt: skip


def test_same_outcome_compares_outcomes_not_rewards() -> None:
    assert same_outcome([episode(False, f1=0.0), episode(False, f1=1.0)])
    assert not same_outcome([episode(True), episode(False)])


def test_failed_episodes_have_no_outcome() -> None:
    failed = episode(False, ended="infrastructure_search_timeout")
    assert same_outcome([episode(True), episode(True), failed])
    assert same_outcome([failed, failed])


def test_the_reserve_draws_each_unused_pair_once_in_a_reproducible_order() -> None:
    data = mini_pairs(12)
    used = [pair.pair_id for pair in data.pairs[:4]]
    first, again = PairReserve(data, used, 0, 1), PairReserve(data, used, 0, 1)
    drawn = [pair.pair_id for pair in [*first.draw(3), *first.draw(100)]]
    assert sorted(drawn) == sorted(pair.pair_id for pair in data.pairs[4:])
    assert drawn == [pair.pair_id for pair in again.draw(100)]
    assert drawn != [pair.pair_id for pair in PairReserve(data, used, 0, 2).draw(100)]


class RuleRollouts:
    """A rollout source with outcomes by a rule. It records every call."""

    def __init__(self, rule: Rule) -> None:
        self.rule, self.calls = rule, []

    def run(self, pairs: Sequence[ReasoningPair], sampling: Sampling) -> list[Trajectory]:
        self.calls.append(([pair.pair_id for pair in pairs], sampling.seed))
        return [episode(self.rule(pair.pair_id, i % 2)) for i, pair in enumerate(pairs)]


def roll_out(tmp_path: Path, data: PairSet, rule: Rule, count: int = 4) -> tuple[RuleRollouts, dict[str, Any], Any]:
    """Sample one step of `count` groups of two. Returns the source, the metrics and the columns for TRL."""
    recipe = Recipe(
        name="test", stage="grpo", model="bundled:tiny", data=DataConfig(train=tmp_path),
        grpo=GrpoConfig(group_size=2, pairs_per_step=count, micro_batch_size=1, updates_per_step=1,
                        dynamic_sampling=True),
    )  # fmt: skip
    rollouts = TrlRollouts(recipe, data, RunFolder(tmp_path / "run", recipe), None, frozenset(), 0)  # type: ignore[arg-type]
    source = RuleRollouts(rule)
    rollouts._source = source  # type: ignore[assignment]
    prompts = [pair.pair_id for pair in data.pairs[:count] for _ in range(2)]
    state = type("State", (), {"global_step": 0})
    accelerator = type("Accelerator", (), {"process_index": 0})
    columns = rollouts(prompts, type("Trainer", (), {"state": state, "accelerator": accelerator}))
    return source, rollouts.pop_metrics(), columns


def test_groups_with_identical_outcomes_are_replaced(tmp_path: Path) -> None:
    data = mini_pairs(12)
    always_right = {pair.pair_id for pair in data.pairs[:3]}
    source, row, columns = roll_out(tmp_path, data, lambda pair, i: pair in always_right or i == 0)
    assert [len(pairs) for pairs, _ in source.calls] == [8, 6]
    assert not {pair for pairs, _ in source.calls[1:] for pair in pairs} & {p.pair_id for p in data.pairs[:4]}
    assert len({seed for _, seed in source.calls}) == 2
    assert (row["rollout/groups_redrawn"], row["rollout/groups_alike"]) == (3, 0)
    assert row["rollout/accuracy"] == pytest.approx((3 * 2 + 4) / 14)  # over all sampled episodes
    assert len(columns["r"]) == 8


def test_the_number_of_redraws_is_bounded(tmp_path: Path) -> None:
    source, row, columns = roll_out(tmp_path, mini_pairs(40), lambda pair, i: True)
    assert len(source.calls) == 1 + REDRAWS
    assert (row["rollout/groups_redrawn"], row["rollout/groups_alike"]) == (4 * REDRAWS, 4)
    assert len(columns["r"]) == 8


def test_without_unused_pairs_the_groups_stay(tmp_path: Path) -> None:
    data = mini_pairs(6)
    source, row, _ = roll_out(tmp_path, data, lambda pair, i: True)
    left = len(data.pairs) - 4
    assert [len(pairs) for pairs, _ in source.calls] == [8, 2 * left]
    assert (row["rollout/groups_redrawn"], row["rollout/groups_alike"]) == (left, 4)
