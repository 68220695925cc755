"""What the agent loop's workers write down about their episodes, and how it becomes rows of a run's logs.

verl's default trainer keeps no record of what happened in a rollout, so each worker process appends to a file of its
own: a line for every episode, with the whole trajectory for the first groups that the worker plays in a step.
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
from judge_r1.training.metric_names import zero_variance
from judge_r1.training.trl.grpo import rollout_metrics


class RolloutLog:
    """A worker's file in `folder`, with the whole trajectories of the first `pairs` that it plays in a step."""

    def __init__(self, folder: Path, pairs: int = 1) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{uuid4().hex}.jsonl"
        self.pairs = pairs
        self._traced: dict[int, set[str]] = defaultdict(set)

    def write(
        self,
        step: int,
        session: int,
        pair: ReasoningPair,
        trajectory: Trajectory,
        *,
        seconds: Mapping[str, float],
        weights: tuple[int, int],
    ) -> None:
        """One line: what `breakdown` needs of the trajectory, or all of it; the seconds it waited for each stage; the
        first and the last version of the weights that it was sampled from (a version is a step)."""
        row: dict[str, Any] = {
            "step": step,
            "session": session,
            "pair_id": pair.pair_id,
            "ended": trajectory.ended,
            "reward": trajectory.reward,
            "sampled_tokens": sum(trajectory.loss_mask),
            "seconds": dict(seconds),
            "weights": weights,
        }
        traced = self._traced[step]
        if len(traced) < self.pairs:
            traced.add(pair.pair_id)
        if pair.pair_id in traced:
            row["trajectory"] = trajectory.model_dump(mode="json")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


class RolloutReader:
    """Follows the files of a folder while workers append to them; `pairs` are the run's, by id. Workers on other
    machines write over a shared folder, where a file may show itself late: up to `patience` seconds."""

    def __init__(self, folder: Path, pairs: dict[str, ReasoningPair], *, patience: float = 0.0) -> None:
        self.folder, self.pairs, self.patience = folder, pairs, patience
        self._read: dict[Path, int] = {}
        self._steps: dict[int, list[dict[str, Any]]] = defaultdict(list)

    def step(self, step: int, wanted: int = 0) -> tuple[dict[str, float], list[dict[str, Any]]]:
        """The means over a finished step's episodes, of which `wanted` are expected (`rollout/episodes` is how many
        there are), and its traces.

        `time/episode/generation` and `time/search` are how long an episode waited for each, queues included, while
        others went on; `rollout/weights_behind` by how many steps the weights that sampled an episode were older than
        they should be, at most."""
        until = time.monotonic() + self.patience
        self._read_all()
        while len(self._steps[step]) < wanted and time.monotonic() < until:
            time.sleep(0.5)
            self._read_all()
        rows = sorted(self._steps.pop(step, []), key=lambda row: (row["pair_id"], row["session"]))
        if not rows:
            return {"rollout/episodes": 0.0}, []
        played = [(self.pairs[row["pair_id"]], _counted(row)) for row in rows]
        groups = [[t for _, t in group] for _, group in groupby(played, key=lambda one: one[0].pair_id)]
        waits = {stage: sum(row["seconds"][stage] for row in rows) / len(rows) for stage in rows[0]["seconds"]}
        means = {
            "rollout/episodes": float(len(rows)),
            "rollout/weights_behind": float(step - 1 - min(row["weights"][0] for row in rows)),
            "time/episode/generation": waits["generation"],
            "time/search": waits["search"],
        }
        traces = [{key: row[key] for key in ("step", "pair_id", "trajectory")} for row in rows if "trajectory" in row]
        return {**means, **rollout_metrics(played), **zero_variance(groups)}, traces

    def _read_all(self) -> None:
        for path in sorted(self.folder.glob("*.jsonl")):
            lines, self._read[path] = new_lines(path, self._read.get(path, 0))
            for line in lines:
                row = json.loads(line)
                self._steps[row["step"]].append(row)


def _counted(row: dict[str, Any]) -> Trajectory:
    """What `breakdown` reads of an episode: how it ended, its reward, how many tokens it sampled (their ids are 0)."""
    count = row["sampled_tokens"]
    return Trajectory(
        prompt_ids=(),
        token_ids=(0,) * count,
        loss_mask=(1,) * count,
        logprobs=(0.0,) * count,
        turns=(),
        judgment=None,
        ended=row["ended"],
        reward=row["reward"],
    )


def new_lines(path: Path, start: int) -> tuple[Sequence[str], int]:
    """The complete lines of a growing file from byte `start` on, and the byte behind them."""
    if not path.exists():
        return [], start
    with path.open("rb") as file:
        file.seek(start)
        data = file.read()
    end = data.rfind(b"\n") + 1
    return data[: max(end - 1, 0)].decode().split("\n") if end else [], start + end
