"""Group advantage by verl's own function, without the episodes that were lost."""

import numpy as np
import pytest
import torch

from judge_r1.episode.reward import round_reward

pytest.importorskip("verl", reason="verl is not installed: pip install 'judge-r1[verl]'")


def advantages(scores: list[float], lost: set[int], groups: str) -> torch.Tensor:
    """[episodes, 4 tokens] through verl's dispatch by the estimator's name; position 2 is an observation."""
    from verl import DataProto
    from verl.trainer.config import AlgoConfig
    from verl.trainer.ppo.ray_trainer import compute_advantage

    from judge_r1.training.verl.advantage import ESTIMATOR

    rewards, mask = torch.zeros(len(scores), 4), torch.ones(len(scores), 4)
    rewards[:, -1] = torch.tensor(scores)
    mask[:, 2] = 0
    for row in lost:
        mask[row] = 0
    data = DataProto.from_dict(
        tensors={"token_level_rewards": rewards, "response_mask": mask},
        non_tensors={"uid": np.array(list(groups), dtype=object)},
    )
    result = compute_advantage(data, adv_estimator=ESTIMATOR, config=AlgoConfig(adv_estimator=ESTIMATOR))
    found: torch.Tensor = result.batch["advantages"]
    return found


def test_no_loss_is_verls_grpo_with_trls_epsilon() -> None:
    from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

    from judge_r1.training.verl.advantage import EPSILON

    scores, groups = [1.0, 0.0, 0.5, 1.0, 1.0, 1.0], "aaabbb"
    mask = torch.ones(6, 4)
    mask[:, 2] = 0
    rewards = torch.zeros(6, 4)
    rewards[:, -1] = torch.tensor(scores)
    index = np.array(list(groups), dtype=object)
    wanted, _ = compute_grpo_outcome_advantage(rewards, mask, index, epsilon=EPSILON)
    verls, _ = compute_grpo_outcome_advantage(rewards, mask, index)
    found = advantages(scores, set(), groups)
    assert torch.allclose(found, verls * (0.5 + 1e-6) / (0.5 + EPSILON), atol=1e-5)  # the deviation of 1, 0, .5 is .5
    assert torch.equal(found, wanted)
    assert found[0, 0] > 0 > found[1, 0]
    assert not found[:, 2].any()
    assert not found[3:].any()  # nothing to learn where all are alike


@pytest.mark.parametrize("size", [5, 8, 16, 64])
def test_a_group_whose_outcomes_are_alike_learns_nothing(size: int) -> None:
    """17/18 is the reward of naming two principles where one of them is meant... and of no float32 mean of itself."""
    alike = [round_reward(17 / 18)] * size
    assert not advantages(alike, set(), "a" * size).any()
    assert not advantages([*alike, 0.0], {size}, "a" * (size + 1)).any()


def test_lost_episode_moves_nobody() -> None:
    found = advantages([1.0, 0.5, 0.0, 0.75], {2}, "aaaa")
    alone = advantages([1.0, 0.5, 0.75], set(), "aaa")
    assert torch.equal(found[[0, 1, 3]], alone)
    assert not found[2].any()


def test_last_of_its_group_learns_nothing() -> None:
    assert not advantages([1.0, 0.0, 0.0], {1, 2}, "aaa").any()


def test_all_lost_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="every episode of this batch failed"):
        advantages([0.0, 0.0], {0, 1}, "aa")
