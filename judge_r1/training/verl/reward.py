"""verl's reward function: returns the reward that the agent loop computed from the trajectory.

verl passes the decoded response, observations included, to reward functions. This one never reads it.
"""

from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.episode.reward import round_reward

FIELD = "reward_breakdown"
"""The extra field of an agent loop's output that holds the reward breakdown."""


class NoBreakdown(JudgeError):
    """A sample without a reward breakdown, which our agent loop always adds."""


def flat_breakdown(trajectory: Trajectory) -> dict[str, float]:
    """The reward breakdown with the same keys for every sample, as verl's aggregation requires.

    An undefined `evidence_hit` becomes 0.0 with `evidence_hit_defined` 0.0."""
    if trajectory.reward is None:
        raise ValueError("the trajectory has no reward yet")
    hit = trajectory.reward.get("evidence_hit")
    return {
        **{name: value for name, value in trajectory.reward.items() if name != "evidence_hit"},
        "evidence_hit": 0.0 if hit is None else hit,
        "evidence_hit_defined": float(hit is not None),
        "infrastructure_failure": float(trajectory.infrastructure_failed),
    }


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None, **_: Any
) -> dict[str, float]:
    """Returns `score` (r, see `round_reward`), `acc` (1.0 if the comparison is right) and the breakdown."""
    breakdown = (extra_info or {}).get(FIELD)
    if breakdown is None:
        raise NoBreakdown(
            f"a sample of {data_source!r} has no {FIELD!r}: judge_r1's agent loop did not sample it; "
            "set its agent_name to 'judge_r1' and actor_rollout_ref.rollout.agent.agent_loop_config_path"
        )
    return {"score": round_reward(breakdown["r"]), "acc": float(breakdown["R1"] > 0), **breakdown}
