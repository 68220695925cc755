"""Routes the episodes of a group to one rollout replica, so that they share its prefix cache.

verl's load balancer is sticky: calls with the same `request_id` go to the same replica, and a new one goes to the
replica with the fewest running calls. verl itself gives vLLM a fresh id for every call.
"""

from math import ceil
from typing import Any

MAX_OVERLOAD = 1.25
"""A group is split if one replica would otherwise get more than this multiple of the mean load."""


def replica_count(config: Any) -> int:
    """The number of rollout replicas under verl's configuration."""
    rollout = config.actor_rollout_ref.rollout
    gpus = config.trainer.nnodes * config.trainer.n_gpus_per_node
    size = rollout.tensor_model_parallel_size * rollout.data_parallel_size * rollout.pipeline_model_parallel_size
    return max(int(gpus // size), 1)


def parts_per_group(groups: int, group_size: int, replicas: int) -> int:
    """The smallest number of equal parts per group under which `groups` of one step load `replicas` evenly.

    One part computes a group's prompt once. With 8 groups on 16 replicas half of them would idle, so the answer is 2.
    """

    def overload(parts: int) -> float:
        return ceil(groups * parts / replicas) * replicas / (groups * parts)

    divisors = (parts for parts in range(1, group_size) if group_size % parts == 0)
    return next((parts for parts in divisors if overload(parts) <= MAX_OVERLOAD), group_size)


def routing_key(config: Any, group: str, session: int) -> str:
    """The `request_id` of episode number `session` of `group` (verl's `uid`), for all its turns.

    Under `full_determinism` verl uses it as vLLM's id, too, so it is unique per episode."""
    rollout = config.actor_rollout_ref.rollout
    if rollout.get("full_determinism", False):
        return f"{group}-{session}"
    parts = parts_per_group(config.data.train_batch_size, rollout.n, replica_count(config))
    return f"{group}-{session % parts}"
