"""The reward of an answer about a pair of conversations: joint correctness, optionally shaped.

The shaped reward is w_side·[side] + w_round·[side ∧ round] + w_type·[side ∧ round ∧ type]. It is nested, so a round or
a type never pays without the better side.

    trainer = GRPOTrainer(reward_funcs=[joint_reward], train_dataset=..., ...)   # rows of `export --format trl`, grpo
"""

from collections.abc import Sequence
from typing import Any

from judge_r1.benchmarks.rankjudge.prompt import read_pairwise
from judge_r1.core.located_verdicts import JOINT, Shaping, parts_correct
from judge_r1.core.verdicts import LocatedVerdict, Winner


def reward(text: str, gold: LocatedVerdict, shaping: Shaping = JOINT) -> float:
    """The reward of an answer, from 0 to 1; 0 for an invalid answer.

    Raises:
        ValueError: The weights are negative or do not add up to 1.
    """
    shaping.check()
    return shaping.reward(parts_correct(read_pairwise(text, strict=True), gold))


def joint_reward(
    completions: Sequence[Any],
    winner: Sequence[Winner],
    round: Sequence[int],
    failure: Sequence[str],
    **_: Any,
) -> list[float]:
    """Joint correctness as a reward function of TRL's GRPOTrainer; the other columns are the labels of each row."""
    return [
        reward(text if isinstance(text, str) else text[-1]["content"], LocatedVerdict(winner=w, round=r, failure=f))
        for text, w, r, f in zip(completions, winner, round, failure, strict=True)
    ]
