"""One name for each measure, whichever engine took it; docs/watching.md has the table.

What both engines measure stands in a row of metrics.jsonl under our name. The rest of what an engine says keeps its
own name under `trl/` or `verl/`, so that nothing is lost and nothing of it is taken for ours.
"""

from collections.abc import Mapping, Sequence

from judge_r1.core.records import Trajectory

TRL = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "entropy": "entropy",
    "kl": "kl",
    "clip_ratio/region_mean": "clip_share",
    "mean_token_accuracy": "token_accuracy",
    "rewards/accuracies": "preference_accuracy",
    "rewards/margins": "preference_margin",
}
VERL = {
    "actor/loss": "loss",
    "actor/grad_norm": "grad_norm",
    "actor/lr": "learning_rate",
    "actor/entropy": "entropy",
    "actor/kl_loss": "kl",
    "actor/pg_clipfrac": "clip_share",
    "timing_s/step": "time/step",
    "timing_s/gen": "time/generation",
    "timing_s/update_actor": "time/update",
    "timing_s/update_weights": "time/sync",
}
_VERL_SCORE = ("timing_s/reward", "timing_s/old_log_prob", "timing_s/ref", "timing_s/adv")
_MISLEADING = ("completions/clipped", "completions/mean_term", "completions/min_term", "completions/max_term")
"""TRL counts an episode as cut unless it ends in EOS; ours end at `</answer>`."""


def from_trl(logs: Mapping[str, float]) -> dict[str, float]:
    """What a TRL trainer logs, in our words."""
    kept = {name: value for name, value in logs.items() if not name.startswith(_MISLEADING)}
    return {TRL.get(name, f"trl/{name}"): value for name, value in kept.items()}


def from_verl(metrics: Mapping[str, float]) -> dict[str, float]:
    """What verl logs of a step, in our words. `time/score` adds up the stages between rollout and update."""
    row = {VERL.get(name, f"verl/{name}"): value for name, value in metrics.items()}
    scored = [metrics[name] for name in _VERL_SCORE if name in metrics]
    if scored:
        row["time/score"] = sum(scored)
    tokens, seconds = metrics.get("perf/total_num_tokens"), row.get("time/step")
    if tokens is not None and seconds:
        row["tokens_per_second"] = tokens / seconds
    return row


def zero_variance(groups: Sequence[Sequence[Trajectory]]) -> dict[str, float]:
    """The share of groups that teach nothing: all rewards of a group are alike (`reward`), or its comparisons are all
    right or all not (`outcome`, what DAPO's dynamic sampling looks at). A group holds the episodes of one pair; those
    that the infrastructure lost are left out, and so is a group with fewer than two others."""
    alike: dict[str, list[float]] = {"outcome": [], "reward": []}
    for group in groups:
        rewards = [t.reward for t in group if t.reward is not None and not t.infrastructure_failed]
        if len(rewards) > 1:
            alike["outcome"].append(float(len({parts["R1"] > 0 for parts in rewards}) == 1))
            alike["reward"].append(float(len({parts["r"] for parts in rewards}) == 1))
    return {f"rollout/zero_variance/{name}": sum(of) / len(of) for name, of in alike.items() if of}
