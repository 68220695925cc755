"""Metrics of the episodes of a step, and of greedy episodes on the dev pairs."""

from collections import defaultdict
from collections.abc import Sequence

from judge_r1.core.records import ReasoningPair, Trajectory


def rollout_metrics(episodes: Sequence[tuple[ReasoningPair, Trajectory]]) -> dict[str, float]:
    """Means over the episodes of a step.

    Accuracy and every reward component, over all episodes and by domain and principle; the fraction of episodes by the
    reason of their end; and the fraction of infrastructure failures, which have no reward and are left out of the rest.
    """
    groups: dict[str, list[float]] = defaultdict(list)
    for reason in {trajectory.ended for _, trajectory in episodes}:
        groups[f"ended/{reason}"] = [float(trajectory.ended == reason) for _, trajectory in episodes]
    for pair, trajectory in episodes:
        failed = trajectory.infrastructure_failed or trajectory.reward is None
        groups["infrastructure_failures"].append(float(failed))
        if failed or (parts := trajectory.reward) is None:
            continue
        for name, value in parts.items():
            groups[f"reward/{name}"].append(value)
        correct = float(parts["R1"] > 0)
        groups["accuracy"].append(correct)
        for key in pair.labels:
            for name, value in parts.items():
                groups[f"reward/{name}/{key}"].append(value)
            groups[f"accuracy/{key}"].append(correct)
        groups["sampled_tokens"].append(float(sum(trajectory.loss_mask)))
    return {f"rollout/{name}": sum(values) / len(values) for name, values in sorted(groups.items())}


def dev_metrics(episodes: Sequence[tuple[ReasoningPair, Trajectory]]) -> dict[str, float]:
    """The means of `rollout_metrics` over greedy episodes of the dev pairs, as dev/..., and the number of episodes."""
    means = {f"dev/{name.removeprefix('rollout/')}": value for name, value in rollout_metrics(episodes).items()}
    return {"dev/episodes": float(len(episodes))} | means
