"""Logs of the rollout workers, and their aggregation into metrics of a step.

verl's default trainer keeps no record of rollouts, so each worker process appends one line per episode to its own file.
The lines of the first groups of a step hold whole trajectories.
"""

import json
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import uuid4

from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.verdicts import Judgment
from judge_r1.episode.questions import Question, first_pair
from judge_r1.files.append_log import AppendLog
from judge_r1.training.metric_names import consistency, rollout_metrics, zero_std_fractions

DEV_ROLLOUTS = "dev_rollouts"
"""Name of the folder beside `rollouts` for the episodes of dev pairs, which no step trains on."""


class RolloutLog:
    """A worker's file in `folder`. It holds whole trajectories for the first `pairs` pairs of each step."""

    def __init__(self, folder: Path, pairs: int = 1) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{uuid4().hex}.jsonl"
        self.pairs = pairs
        self._traced: dict[int, set[str]] = defaultdict(set)

    def write(
        self,
        step: int,
        session: int,
        pair: Question,
        trajectory: Trajectory,
        *,
        seconds: Mapping[str, float],
        weights: tuple[int, int],
        group: str | None = None,
        cache: tuple[int, int] | None = None,
        order: Sequence[int] | None = None,
    ) -> None:
        """Append one episode.

        Args:
            step: The step that requested the episode.
            session: The number of the episode within its group.
            group: The name of its group (default: the pair's id).
            cache: The ids found in the server's prefix cache, and all ids that it read, over the episode's turns.
            seconds: The time that the episode waited for each stage.
            weights: The first and last version of the weights that sampled it (a version is a step).
            order: The order in which candidates are shown, if it is not that of the data.
        """
        row: dict[str, Any] = {
            "step": step,
            "session": session,
            "pair_id": pair.pair_id,
            "ended": trajectory.ended,
            "reward": trajectory.reward,
            "violated": trajectory.judgment and trajectory.judgment.violated_principles,
            "sampled_tokens": sum(trajectory.loss_mask),
            "seconds": dict(seconds),
            "weights": weights,
            "group": group or pair.pair_id,
            "cache": cache,
            **({"order": list(order)} if order else {}),
        }
        traced = self._traced[step]
        if len(traced) < self.pairs:
            traced.add(pair.pair_id)
        if pair.pair_id in traced:
            row["trajectory"] = trajectory.model_dump(mode="json")
        with AppendLog(self.path) as log:
            log.append(json.dumps(row, ensure_ascii=False).encode() + b"\n")


class RolloutReader:
    """Reads the files of `folder` while workers append to them. `pairs` are the run's pairs by id.

    Files of other nodes may become visible late: `step` waits for them up to `wait_seconds`. `swaps`: the second half
    of a group sees its pair in the other order."""

    def __init__(
        self, folder: Path, pairs: Mapping[str, ReasoningPair], *, wait_seconds: float = 0.0, swaps: bool = False
    ) -> None:
        self.folder, self.pairs, self.wait_seconds, self.swaps = folder, pairs, wait_seconds, swaps
        self._offsets: dict[Path, int] = {}
        self._groups: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
        """Group -> number of the episode within it -> row."""
        self._of_step: dict[int, dict[str, None]] = defaultdict(dict)
        """Step -> its groups, in order."""

    def step(self, step: int, wanted: int = 0) -> tuple[dict[str, float], list[dict[str, Any]]]:
        """Returns the mean metrics of a finished step, waiting for `wanted` episodes, and its traces.

        `rollout/episodes` is the number of episodes. `time/episode/generation` and `time/search` are the mean seconds
        that an episode waited for each stage, queues included. `rollout/weights_behind` is the largest age, in steps,
        of the weights that sampled an episode; above 0, they were not sent in time. `rollout/prefix_cache_hit` is the
        fraction of the ids read by the server that its prefix cache held.
        """
        until = time.monotonic() + self.wait_seconds
        self._read_all()
        while self._count(step) < wanted and time.monotonic() < until:
            time.sleep(0.5)
            self._read_all()
        found = [row for group in self._of_step.pop(step, {}) for row in self._groups.pop(group, {}).values()]
        rows = sorted(found, key=lambda row: (row["pair_id"], row["group"], row["session"]))
        if not rows:
            return {"rollout/episodes": 0.0}, []
        episodes = [(self.pairs[first_pair(row["pair_id"])], _summary_trajectory(row)) for row in rows]
        grouped = groupby(zip(rows, episodes, strict=True), key=lambda both: both[0]["group"])
        groups = [[trajectory for _, (_, trajectory) in group] for _, group in grouped]
        waits = {stage: sum(row["seconds"][stage] for row in rows) / len(rows) for stage in rows[0]["seconds"]}
        means = {
            "rollout/episodes": float(len(rows)),
            "rollout/weights_behind": max(float(step - 1 - row["weights"][0]) for row in rows),
            "time/episode/generation": waits["generation"],
            "time/search": waits["search"],
        }
        if caches := [row["cache"] for row in rows if row["cache"]]:
            means["rollout/prefix_cache_hit"] = sum(hit for hit, _ in caches) / sum(read for _, read in caches)
        traced = [row for row in rows if "trajectory" in row]
        kept = ("pair_id", "order", "trajectory")
        traces = [{"step": step, **{name: row[name] for name in kept if name in row}} for row in traced]
        both = consistency(groups) if self.swaps else {}
        return {**means, **rollout_metrics(episodes), **both, **zero_std_fractions(groups)}, traces

    def dev(self, step: int, wanted: int) -> dict[str, float]:
        """The means of `rollout_metrics` over a step's dev episodes, as dev/..., from a reader of their folder."""
        means, _ = self.step(step, wanted)
        skipped = ("rollout/weights_behind", "rollout/prefix_cache")
        named = {name: value for name, value in means.items() if name.startswith("rollout/")}
        return {f"dev/{n.removeprefix('rollout/')}": v for n, v in named.items() if not n.startswith(skipped)}

    def _count(self, step: int) -> int:
        return sum(len(self._groups.get(group, {})) for group in self._of_step.get(step, {}))

    def _read_all(self) -> None:
        for path in sorted(self.folder.glob("*.jsonl")):
            for row in self._new_rows(path):
                group = f"{row['step']}/{row['group']}"
                episodes = self._groups[group]
                episodes[row["session"]] = row
                self._of_step[row["step"]][group] = None

    def _new_rows(self, path: Path) -> list[dict[str, Any]]:
        lines, self._offsets[path] = new_lines(path, self._offsets.get(path, 0))
        return [json.loads(line) for line in lines]


def _summary_trajectory(row: dict[str, Any]) -> Trajectory:
    """A trajectory with the fields that `rollout_metrics` reads: the end, the reward, the principles that the judgment
    names and the number of sampled tokens (all ids are 0)."""
    count, violated = row["sampled_tokens"], row.get("violated")
    return Trajectory(
        prompt_ids=(),
        token_ids=(0,) * count,
        loss_mask=(1,) * count,
        logprobs=(0.0,) * count,
        turns=(),
        judgment=None if violated is None else Judgment.pairwise("A>B", violated),
        ended=row["ended"],
        reward=row["reward"],
    )


def new_lines(path: Path, start: int) -> tuple[Sequence[str], int]:
    """The complete lines of a growing file from byte `start`, and the byte after them."""
    if not path.exists():
        return [], start
    with path.open("rb") as file:
        file.seek(start)
        data = file.read()
    end = data.rfind(b"\n") + 1
    return data[: max(end - 1, 0)].decode().split("\n") if end else [], start + end
