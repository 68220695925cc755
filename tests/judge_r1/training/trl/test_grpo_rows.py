import pytest
from factories import ByteTokenizer, make_case, make_pair

from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.episode.config import Budget
from judge_r1.episode.machine import Episode
from judge_r1.episode.reward import with_reward
from judge_r1.training.metric_names import rollout_metrics
from judge_r1.training.trl.grpo import as_columns, check_groups, reward

CASES = [make_case(domain=domain) for domain in ("legal", "medical")]
PAIRS = [make_pair(CASES[0], violated=[2]), make_pair(CASES[1], violated=[3, 5])]


def trajectory(pair: ReasoningPair, answer: str | None, *, fail: str | None = None) -> Trajectory:
    episode = Episode([7], Budget(max_searches=1, response_tokens=99), ByteTokenizer())
    ids = list((f"<answer>{answer}</answer>" if answer else "<search>q</search>").encode())
    episode.feed(ids, [-0.5] * len(ids))
    if fail:
        episode.abort(fail)
    return with_reward(episode.trajectory(), pair)


def gold(pair: ReasoningPair) -> str:
    return f'{{"comparison": "{pair.gold.comparison}", "violated_principles": {list(pair.violated)}}}'


def test_columns_are_parallel_and_rewards_come_from_the_trajectories() -> None:
    trajectories = [trajectory(PAIRS[0], gold(PAIRS[0])), trajectory(PAIRS[0], "nonsense")]
    columns = as_columns(trajectories)
    assert columns["r"] == [1.0, 0.0]
    for index, episode in enumerate(trajectories):
        assert columns["prompt_ids"][index] == [7]
        assert columns["completion_ids"][index] == list(episode.token_ids)
        assert columns["env_mask"][index] == list(episode.loss_mask)
        assert columns["logprobs"][index] == list(episode.logprobs)
    assert reward([], [], columns["r"]) == [1.0, 0.0]


def test_an_infrastructure_failure_is_masked_and_has_no_reward() -> None:
    failed = trajectory(PAIRS[0], None, fail="search_timeout")
    columns = as_columns([trajectory(PAIRS[0], gold(PAIRS[0])), failed])
    assert columns["r"] == [1.0, None]
    assert columns["env_mask"][1] == [0] * len(failed.token_ids)
    assert columns["completion_ids"][1]


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), -float("inf")])
def test_a_reward_that_is_no_number_is_none(broken: float) -> None:
    assert reward([], [], [1.0, broken, None]) == [1.0, None, None]


def test_an_episode_that_failed_before_its_first_token_has_one_masked_token() -> None:
    """TRL 1.16 reads the last id of every completion."""
    episode = Episode([7, 8], Budget(), ByteTokenizer())
    episode.abort("generation_error")
    columns = as_columns([with_reward(episode.trajectory(), PAIRS[0])])
    assert columns["completion_ids"] == [[8]]
    assert (columns["env_mask"], columns["logprobs"], columns["r"]) == ([[0]], [[0.0]], [None])


def test_a_group_holds_one_pair() -> None:
    check_groups(["a", "a", "b", "b", "a", "a"], 2)
    for wrong in (["a", "b", "a", "b"], ["a", "a", "b"], ["a", "a", "a", "b"]):
        with pytest.raises(RuntimeError, match="is not 2 episodes of one pair"):
            check_groups(wrong, 2)


def test_metrics_are_by_component_domain_principle_and_ending() -> None:
    legal, medical = PAIRS
    episodes = [
        (legal, trajectory(legal, gold(legal))),
        (legal, trajectory(legal, "nonsense")),
        (medical, trajectory(medical, gold(medical))),
        (medical, trajectory(medical, None, fail="search_timeout")),
    ]
    row = rollout_metrics(episodes)
    assert row["rollout/infrastructure_failures"] == 0.25
    assert row["rollout/reward/r"] == pytest.approx(2 / 3)
    assert row["rollout/reward/valid"] == pytest.approx(2 / 3)
    assert row["rollout/reward/R1"] == pytest.approx((2 - 2 + 2) / 3)
    assert (row["rollout/reward/r/legal"], row["rollout/reward/r/medical"]) == (0.5, 1.0)
    assert (row["rollout/reward/r/P2"], row["rollout/reward/r/P3"], row["rollout/reward/r/P5"]) == (0.5, 1.0, 1.0)
    assert row["rollout/accuracy"] == pytest.approx(2 / 3)
    assert row["rollout/accuracy/P2"] == 0.5
    endings = {name.removeprefix("rollout/ended/"): share for name, share in row.items() if "/ended/" in name}
    assert endings == {"answer": 0.5, "rejected_no_json": 0.25, "infrastructure_search_timeout": 0.25}
    assert all(isinstance(value, float) for value in row.values())
    assert "rollout/reward/r/P1" not in row


def test_an_episode_without_a_reward_counts_as_an_infrastructure_failure() -> None:
    unrewarded = trajectory(PAIRS[0], None, fail="x").model_copy(update={"ended": "answer", "reward": None})
    row = rollout_metrics([(PAIRS[0], unrewarded), (PAIRS[0], trajectory(PAIRS[0], gold(PAIRS[0])))])
    assert row["rollout/infrastructure_failures"] == 0.5
    assert row["rollout/reward/r"] == 1.0


def test_a_step_whose_episodes_all_failed_still_has_a_row() -> None:
    row = rollout_metrics([(PAIRS[0], trajectory(PAIRS[0], None, fail="x"))])
    assert row == {"rollout/infrastructure_failures": 1.0, "rollout/ended/infrastructure_x": 1.0}
