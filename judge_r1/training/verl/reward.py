"""The reward as verl asks for it: a function that hands over what the driver computed from the trajectory.

verl decodes the response for its reward functions, observations and all; nothing here reads that text.
"""

from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.training.reward_rounding import round_reward

FIELD = "reward_breakdown"
"""The extra field of an agent loop's output that carries the breakdown."""


class NoBreakdown(JudgeError):
    """A sample that did not come from our agent loop."""


def flat_breakdown(trajectory: Trajectory) -> dict[str, float]:
    """The breakdown of a rewarded trajectory with the same keys for every sample, as verl's aggregation needs them:
    `evidence_hit` is 0.0 where it is not defined, and `evidence_hit_defined` says so."""
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
    """verl's reward function: `score` is r on the grid of `outcome`, `acc` whether the comparison is right, the rest
    the breakdown."""
    breakdown = (extra_info or {}).get(FIELD)
    if breakdown is None:
        raise NoBreakdown(
            f"a sample of {data_source!r} has no {FIELD!r}: it was not played by judge_r1's agent loop; "
            "set its agent_name to 'judge_r1' and actor_rollout_ref.rollout.agent.agent_loop_config_path"
        )
    return {"score": round_reward(breakdown["r"]), "acc": float(breakdown["R1"] > 0), **breakdown}
