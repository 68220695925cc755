"""Dynamic sampling: groups whose outcomes are all alike make room for other pairs, a bounded number of times."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from factories import mini_pairs

from judge_r1.core.pair_set import PairSet
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.models.base import Sampling
from judge_r1.training.recipe import DataConfig, GrpoConfig, Recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.dynamic_sampling import REDRAWS, PairReserve, same_outcome
from judge_r1.training.trl.grpo import TrlRollouts

Rule = Callable[[str, int], bool]
"""(pair, which episode of its group) -> is its comparison right?"""


def episode(right: bool, *, f1: float = 0.0, ended: str = "answer") -> Trajectory:
    reward = {"r": 0.5, "R1": 2.0 if right else -2.0, "R2": 2 * f1 - 1, "f1": f1}
    return Trajectory(
        prompt_ids=(1,), token_ids=(2,), loss_mask=(1,), logprobs=(-1.0,), turns=(), judgment=None, ended=ended,
        reward=reward,
    )  # fmt: skip


def test_the_outcome_decides_and_not_the_reward() -> None:
    assert same_outcome([episode(False, f1=0.0), episode(False, f1=1.0)])
    assert not same_outcome([episode(True), episode(False)])


def test_a_lost_episode_is_neither_right_nor_wrong() -> None:
    lost = episode(False, ended="infrastructure_search_timeout")
    assert same_outcome([episode(True), episode(True), lost])
    assert same_outcome([lost, lost])


def test_the_reserve_never_draws_what_was_drawn_and_repeats_itself() -> None:
    data = mini_pairs(12)
    used = [pair.pair_id for pair in data.pairs[:4]]
    first, again = PairReserve(data, used, 0, 1), PairReserve(data, used, 0, 1)
    drawn = [pair.pair_id for pair in [*first.draw(3), *first.draw(100)]]
    assert sorted(drawn) == sorted(pair.pair_id for pair in data.pairs[4:])
    assert drawn == [pair.pair_id for pair in again.draw(100)]
    assert drawn != [pair.pair_id for pair in PairReserve(data, used, 0, 2).draw(100)]


class RuledPlayer:
    """In the place of the model: outcomes by a rule, and a note of every call."""

    def __init__(self, rule: Rule) -> None:
        self.rule, self.calls = rule, []

    def run(self, pairs: Sequence[ReasoningPair], sampling: Sampling) -> list[Trajectory]:
        self.calls.append(([pair.pair_id for pair in pairs], sampling.seed))
        return [episode(self.rule(pair.pair_id, i % 2)) for i, pair in enumerate(pairs)]


def rolled_out(tmp_path: Path, data: PairSet, rule: Rule, count: int = 4) -> tuple[RuledPlayer, dict[str, Any], Any]:
    """One step of `count` groups of two, what there is to say of it, and what TRL gets."""
    recipe = Recipe(
        name="toy", stage="grpo", model="bundled:tiny", data=DataConfig(train=tmp_path),
        grpo=GrpoConfig(group_size=2, pairs_per_step=count, micro_batch_size=1, updates_per_step=1,
                        dynamic_sampling=True),
    )  # fmt: skip
    rollouts = TrlRollouts(recipe, data, RunFolder(tmp_path / "run", recipe), None, frozenset(), 0)  # type: ignore[arg-type]
    player = RuledPlayer(rule)
    rollouts._source = player  # type: ignore[assignment]
    prompts = [pair.pair_id for pair in data.pairs[:count] for _ in range(2)]
    state = type("State", (), {"global_step": 0})
    accelerator = type("Accelerator", (), {"process_index": 0})
    columns = rollouts(prompts, type("Trainer", (), {"state": state, "accelerator": accelerator}))
    return player, rollouts.pop_metrics(), columns


def test_groups_without_a_signal_are_replaced(tmp_path: Path) -> None:
    data = mini_pairs(12)
    dull = {pair.pair_id for pair in data.pairs[:3]}
    player, row, columns = rolled_out(tmp_path, data, lambda pair, i: pair in dull or i == 0)
    assert [len(pairs) for pairs, _ in player.calls] == [8, 6]
    assert not {pair for pairs, _ in player.calls[1:] for pair in pairs} & {p.pair_id for p in data.pairs[:4]}
    assert len({seed for _, seed in player.calls}) == 2
    assert (row["rollout/groups_redrawn"], row["rollout/groups_alike"]) == (3, 0)
    assert row["rollout/accuracy"] == pytest.approx((3 * 2 + 4) / 14)  # everything that was played
    assert len(columns["r"]) == 8


def test_a_judge_that_is_always_right_is_asked_a_bounded_number_of_times(tmp_path: Path) -> None:
    player, row, columns = rolled_out(tmp_path, mini_pairs(40), lambda pair, i: True)
    assert len(player.calls) == 1 + REDRAWS
    assert (row["rollout/groups_redrawn"], row["rollout/groups_alike"]) == (4 * REDRAWS, 4)
    assert len(columns["r"]) == 8


def test_where_no_pair_is_left_the_groups_stay(tmp_path: Path) -> None:
    data = mini_pairs(6)
    player, row, _ = rolled_out(tmp_path, data, lambda pair, i: True)
    left = len(data.pairs) - 4
    assert [len(pairs) for pairs, _ in player.calls] == [8, 2 * left]
    assert (row["rollout/groups_redrawn"], row["rollout/groups_alike"]) == (left, 4)
