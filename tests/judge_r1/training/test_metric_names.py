from hypothesis import given
from hypothesis import strategies as st

from judge_r1.core.records import Trajectory
from judge_r1.training.metric_names import TRL, VERL, from_trl, from_verl, zero_std_fractions


def trajectory(r: float | None, r1: float = 2.0, ended: str = "answer") -> Trajectory:
    reward = None if r is None else {"r": r, "R1": r1}
    return Trajectory(
        prompt_ids=(), token_ids=(), loss_mask=(), logprobs=(), turns=(), judgment=None, ended=ended, reward=reward
    )


def test_both_engines_share_the_names_of_the_main_metrics() -> None:
    shared = {"loss", "grad_norm", "learning_rate", "entropy", "kl", "clip_fraction"}
    assert shared <= set(TRL.values()) & set(VERL.values())
    trl = from_trl({"loss": 1.0, "clip_ratio/region_mean": 0.1, "reward": 0.5, "completions/clipped_ratio": 1.0})
    assert trl == {"loss": 1.0, "clip_fraction": 0.1, "trl/reward": 0.5}
    verl = from_verl(
        {"actor/kl_loss": 0.2, "timing_s/ref": 1.0, "timing_s/old_log_prob": 2.0, "timing_s/step": 4.0,
         "perf/total_num_tokens": 100, "critic/score/mean": 0.5}
    )  # fmt: skip
    assert verl["kl"] == 0.2
    assert (verl["time/score"], verl["time/step"], verl["tokens_per_second"]) == (3.0, 4.0, 25.0)
    assert verl["verl/critic/score/mean"] == 0.5


@given(st.dictionaries(st.text(min_size=1), st.floats(allow_nan=False)))
def test_every_verl_metric_is_kept(metrics: dict[str, float]) -> None:
    row = from_verl(metrics)
    for name, value in metrics.items():
        assert row[VERL.get(name, f"verl/{name}")] == value


GROUPS = st.lists(
    st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([-2.0, 2.0]), st.booleans()), max_size=4),
    max_size=5,
)


@given(GROUPS)
def test_zero_std_fractions_are_shares_of_groups_with_equal_values(raw: list[list[tuple[float, float, bool]]]) -> None:
    groups = [
        [trajectory(r, r1, "infrastructure_x" if failed else "answer") for r, r1, failed in group] for group in raw
    ]
    rated = [[(r, r1) for r, r1, failed in group if not failed] for group in raw]
    rated = [group for group in rated if len(group) > 1]
    fractions = zero_std_fractions(groups)
    if not rated:
        assert fractions == {}
        return
    rewards = [max(r for r, _ in group) == min(r for r, _ in group) for group in rated]
    outcomes = [abs(sum(r1 for _, r1 in group)) == 2 * len(group) for group in rated]
    assert fractions["frac_reward_zero_std"] == sum(rewards) / len(rated)
    assert fractions["frac_outcome_zero_std"] == sum(outcomes) / len(rated)


def test_episodes_without_a_reward_are_ignored() -> None:
    assert zero_std_fractions([[trajectory(None), trajectory(1.0)]]) == {}
