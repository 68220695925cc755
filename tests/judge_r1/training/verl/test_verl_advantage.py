"""Group advantages by verl's function, without failed episodes."""

import numpy as np
import pytest
import torch

from judge_r1.episode.reward import round_reward

pytest.importorskip("verl", reason="verl is not installed: pip install 'judge-r1[verl]'")


def advantages(scores: list[float], failed: set[int], groups: str) -> torch.Tensor:
    """Advantages `[episodes, 4 tokens]` from verl's dispatch by estimator name. Position 2 is an observation."""
    from verl import DataProto
    from verl.trainer.config import AlgoConfig
    from verl.trainer.ppo.ray_trainer import compute_advantage

    from judge_r1.training.verl.advantage import ESTIMATOR

    rewards, mask = torch.zeros(len(scores), 4), torch.ones(len(scores), 4)
    rewards[:, -1] = torch.tensor(scores)
    mask[:, 2] = 0
    for row in failed:
        mask[row] = 0
    data = DataProto.from_dict(
        tensors={"token_level_rewards": rewards, "response_mask": mask},
        non_tensors={"uid": np.array(list(groups), dtype=object)},
    )
    result = compute_advantage(data, adv_estimator=ESTIMATOR, config=AlgoConfig(adv_estimator=ESTIMATOR))
    values: torch.Tensor = result.batch["advantages"]
    return values


def test_without_failures_the_advantage_is_verls_grpo_with_trls_epsilon() -> None:
    from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

    from judge_r1.training.verl.advantage import EPSILON

    scores, groups = [1.0, 0.0, 0.5, 1.0, 1.0, 1.0], "aaabbb"
    mask = torch.ones(6, 4)
    mask[:, 2] = 0
    rewards = torch.zeros(6, 4)
    rewards[:, -1] = torch.tensor(scores)
    index = np.array(list(groups), dtype=object)
    expected, _ = compute_grpo_outcome_advantage(rewards, mask, index, epsilon=EPSILON)
    verls, _ = compute_grpo_outcome_advantage(rewards, mask, index)
    actual = advantages(scores, set(), groups)
    assert torch.allclose(actual, verls * (0.5 + 1e-6) / (0.5 + EPSILON), atol=1e-5)  # the deviation of 1, 0, .5 is .5
    assert torch.equal(actual, expected)
    assert actual[0, 0] > 0 > actual[1, 0]
    assert not actual[:, 2].any()
    assert not actual[3:].any()  # equal rewards


def test_a_failed_episode_does_not_change_the_others() -> None:
    with_failure = advantages([1.0, 0.5, 0.0, 0.75], {2}, "aaaa")
    without = advantages([1.0, 0.5, 0.75], set(), "aaa")
    assert torch.equal(with_failure[[0, 1, 3]], without)
    assert not with_failure[2].any()


def test_the_only_valid_episode_of_a_group_has_no_advantage() -> None:
    assert not advantages([1.0, 0.0, 0.0], {1, 2}, "aaa").any()


@pytest.mark.parametrize("size", [3, 5, 8, 16, 100])
def test_equal_rewards_have_no_advantage_whatever_their_digits(size: int) -> None:
    """17/18 is the reward of naming two principles when one is violated. Its float32 mean differs from it."""
    for reward in (0.1, 0.3, 17 / 18, round_reward(17 / 18), 0.7):
        assert not advantages([reward] * size, set(), "a" * size).any()
        assert not advantages([reward] * size + [0.0], {size}, "a" * (size + 1)).any()
    mixed = advantages([0.7] * size + [0.7, 0.2], set(), "a" * size + "bb")
    assert not mixed[:size].any()
    assert mixed[size, 0] > 0 > mixed[size + 1, 0]


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_reward_that_is_no_number_leaves_its_group_alone(broken: float) -> None:
    with_broken = advantages([1.0, broken, 0.0, 0.75, 0.5, 0.25], set(), "aaaabb")
    without = advantages([1.0, 0.0, 0.75, 0.5, 0.25], set(), "aaabb")
    assert torch.equal(with_broken[[0, 2, 3, 4, 5]], without)
    assert without[0].any()
    assert not with_broken[1].any()
    with pytest.raises(RuntimeError, match="every episode of this batch failed"):
        advantages([broken, broken], set(), "aa")


def test_a_batch_of_failures_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="every episode of this batch failed"):
        advantages([0.0, 0.0], {0, 1}, "aa")
