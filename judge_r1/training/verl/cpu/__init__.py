"""Runs verl without an accelerator: a platform, an engine, a rollout server, and patches.
verl's processes load it through

    VERL_PLATFORM=cpu VERL_USE_EXTERNAL_MODULES=judge_r1.training.verl.cpu

It uses verl's registries. Some names are not public (the table of rollout adapters, and what `engine` and `gloo`
work around), so verl is pinned and a test trains two steps with it.
"""

from judge_r1.training.verl.cpu import platform  # isort: skip  # the modules below need it when they are imported

from verl.workers.rollout.base import _ROLLOUT_REGISTRY
from verl.workers.rollout.replica import RolloutReplicaRegistry

from judge_r1.training.verl import advantage
from judge_r1.training.verl.config import CPU_ROLLOUT
from judge_r1.training.verl.cpu import engine, patches

__all__ = ["advantage", "engine", "patches", "platform"]


def _replica() -> type:
    from judge_r1.training.verl.cpu.server import CpuReplica

    return CpuReplica


patches.apply()
RolloutReplicaRegistry.register(CPU_ROLLOUT, _replica)
_ROLLOUT_REGISTRY[(CPU_ROLLOUT, "async")] = "judge_r1.training.verl.cpu.server.WeightSync"
