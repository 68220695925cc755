"""Common metric names for both engines, and the metrics of a step's episodes; docs/metrics.md has the table.

Metrics that both engines report have a common name in metrics.jsonl. All others keep the engine's name under `trl/` or
`verl/`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from judge_r1.core.records import ReasoningPair, Trajectory

TRL = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "entropy": "entropy",
    "kl": "kl",
    "clip_ratio/region_mean": "clip_fraction",
    "mean_token_accuracy": "token_accuracy",
    "rewards/accuracies": "preference_accuracy",
    "rewards/margins": "preference_margin",
    "accuracy": "preference_accuracy",
    "margin": "preference_margin",
}
VERL = {
    "actor/loss": "loss",
    "actor/grad_norm": "grad_norm",
    "actor/lr": "learning_rate",
    "actor/entropy": "entropy",
    "actor/kl_loss": "kl",
    "actor/pg_clipfrac": "clip_fraction",
    "timing_s/step": "time/step",
    "timing_s/gen": "time/generation",
    "timing_s/update_actor": "time/update",
    "timing_s/update_weights": "time/weight_sync",
    "timing_s/testing": "time/dev",
}
_VERL_SCORE = ("timing_s/reward", "timing_s/old_log_prob", "timing_s/ref", "timing_s/adv")
_MISLEADING = ("completions/clipped", "completions/mean_term", "completions/min_term", "completions/max_term")
"""TRL counts an episode as truncated unless it ends in EOS. Ours end at `</answer>`."""


def from_trl(logs: Mapping[str, float]) -> dict[str, float]:
    """The logs of a TRL trainer under common names."""
    shown = {name: value for name, value in logs.items() if not name.startswith(_MISLEADING)}
    return {TRL.get(name, f"trl/{name}"): value for name, value in shown.items()}


def dev_from_trl(logs: Mapping[str, float]) -> dict[str, float]:
    """The metrics of a TRL trainer's evaluation under common names."""
    found = {name.removeprefix("eval_"): value for name, value in logs.items() if name.startswith("eval_")}
    return {f"dev/{TRL[name]}": value for name, value in found.items() if name in TRL}


def from_verl(metrics: Mapping[str, float]) -> dict[str, float]:
    """verl's metrics of a step under common names. `time/score` is the sum of the stages between rollout and update."""
    row = {VERL.get(name, f"verl/{name}"): value for name, value in metrics.items()}
    score_seconds = [metrics[name] for name in _VERL_SCORE if name in metrics]
    if score_seconds:
        row["time/score"] = sum(score_seconds)
    tokens, seconds = metrics.get("perf/total_num_tokens"), row.get("time/step")
    if tokens is not None and seconds:
        row["tokens_per_second"] = tokens / seconds
    return row


def zero_std_fractions(groups: Sequence[Sequence[Trajectory]]) -> dict[str, float]:
    """The fraction of groups without a learning signal.

    `frac_reward_zero_std`: all rewards of the group are equal. `frac_outcome_zero_std`: its comparisons are all right
    or all wrong. A group holds the episodes of one pair. Infrastructure failures are left out, and so are groups with
    fewer than two other episodes.
    """
    identical: dict[str, list[float]] = {"outcome": [], "reward": []}
    for group in groups:
        rewards = [t.reward for t in group if t.reward is not None and not t.infrastructure_failed]
        if len(rewards) > 1:
            identical["outcome"].append(float(len({parts["R1"] > 0 for parts in rewards}) == 1))
            identical["reward"].append(float(len({parts["r"] for parts in rewards}) == 1))
    return {f"frac_{name}_zero_std": sum(values) / len(values) for name, values in identical.items() if values}


def consistency(groups: Sequence[Sequence[Trajectory]]) -> dict[str, float]:
    """`rollout/consistency`: how often an episode of the first half of a group, which sees the stored order, and one of
    the second half, which sees the other, prefer the same reasoning: the mean over all such pairs of episodes, by
    group. Episodes without a valid answer, and infrastructure failures, are left out."""
    shares = []
    for group in groups:
        stored, swapped = (
            [t.reward["R1"] > 0 for t in half if t.reward and t.reward["valid"] and not t.infrastructure_failed]
            for half in (group[: len(group) // 2], group[len(group) // 2 :])
        )
        if stored and swapped:
            shares.append(sum(a == b for a in stored for b in swapped) / (len(stored) * len(swapped)))
    return {"rollout/consistency": sum(shares) / len(shares)} if shares else {}


def rollout_metrics(episodes: Sequence[tuple[ReasoningPair, Trajectory]]) -> dict[str, float]:
    """Means over the episodes of a step.

    Accuracy and every reward component, over all episodes and by domain and principle; the fraction of episodes by the
    reason of their end; the fraction of infrastructure failures, which have no reward and are left out of the rest; the
    calls of tools, and the fraction of them that a limit stopped; and the shares of `label_shares`.
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
    if calls := [call for _, trajectory in episodes for call in trajectory.calls]:
        groups["tool_calls"] = [float(len(trajectory.calls)) for _, trajectory in episodes]
        groups["tool_limits"] = [float(call.status == "limit") for call in calls]
    means = {f"rollout/{name}": sum(values) / len(values) for name, values in sorted(groups.items())}
    return means | label_shares(episodes)


def dev_metrics(episodes: Sequence[tuple[ReasoningPair, Trajectory]]) -> dict[str, float]:
    """The means of `rollout_metrics` over greedy episodes of the dev pairs, as dev/..., and the number of episodes."""
    means = {f"dev/{name.removeprefix('rollout/')}": value for name, value in rollout_metrics(episodes).items()}
    return {"dev/episodes": float(len(episodes))} | means


SHARE, GOLD = "rollout/label_collapse", "rollout/label_collapse_gold"
STEPS = 10
"""Steps in a row before the warning."""
HIGH, VARIED, RATIO = 0.95, 0.8, 1.5


def label_shares(episodes: Sequence[tuple[ReasoningPair, Trajectory]]) -> dict[str, float]:
    """The largest share of one set of principles among the valid answers, and among the gold labels of their pairs.
    Nothing without a valid answer. A reference that is scored alone, and a list, have no principles to name."""
    named = [
        (t.judgment.violated_principles, pair.violated)
        for pair, t in episodes
        if t.judgment is not None and (t.reward is None or ("F1" in t.reward and not t.reward.get("reference")))
    ]
    if not named:
        return {}
    answers, gold = (Counter(sets).most_common(1)[0][1] / len(named) for sets in zip(*named, strict=True))
    return {SHARE: answers, GOLD: gold}


class CollapseWatch:
    """Gets the rows of metrics.jsonl in order."""

    def __init__(self) -> None:
        self._steps, self._warned = 0, False

    def warning(self, row: Mapping[str, Any]) -> str | None:
        """A warning, once, when for `STEPS` rows in a row one answer has at least `HIGH` of all while no gold label has
        `VARIED`, or `RATIO` times the share of the commonest gold label. Rows without the shares do not count."""
        if SHARE not in row:
            return None
        share, gold = row[SHARE], row[GOLD]
        collapsed = (share >= HIGH and gold < VARIED) or share >= RATIO * gold
        self._steps = self._steps + 1 if collapsed else 0
        if self._steps < STEPS or self._warned:
            return None
        self._warned = True
        return (
            f"step {row['step']}: for {STEPS} steps too many answers name the same principles, now {share:.2f}, while "
            f"the commonest label has {gold:.2f}: the judge does not learn to name the flaw. Give R2 more weight "
            "(grpo.advantage: decoupled, grpo.advantage_weights), or warm up on more rationales that name it"
        )
