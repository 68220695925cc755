"""Rounded rewards have exact means in TRL's arithmetic. training/verl/test_verl_advantage.py tests verl's."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.episode.reward import round_reward

F1 = sorted({2 * both / (gold + named) for gold in range(1, 7) for named in range(1, 7) for both in range(1, 7)})
REWARDS = sorted({(side + 2 * (f1 - 0.5) + 3) / 6 for side in (2, -2) for f1 in [0.0, *F1] if f1 <= 1})
"""Every possible reward (Eq. 1 to 3)."""


@given(st.sampled_from(REWARDS), st.integers(2, 64))
def test_the_mean_of_equal_rounded_rewards_is_the_reward(reward: float, size: int) -> None:
    group = torch.full((1, size), round_reward(reward))
    assert torch.equal(torch.nanmean(group, dim=1), group[:, 0])
    assert torch.equal(torch.mean(group, dim=1), group[:, 0])
    assert round_reward(reward) == pytest.approx(reward, abs=2e-6)


def test_the_mean_of_equal_unrounded_rewards_may_differ() -> None:
    group = torch.full((5,), 17 / 18)
    assert float(group.mean()) != float(group[0])
