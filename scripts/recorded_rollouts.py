"""Recorded rollouts of one run as the rollout source of another: the same episodes must give the same update."""

from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import ReasoningPair, Trajectory
from judge_r1.core.run_log import read_rows
from judge_r1.models.base import Sampling


class RecordedRollouts:
    """Returns the episodes of a run's traces.jsonl, one step per call. The run must have traced all of its episodes
    (`grpo.traced_pairs`)."""

    def __init__(self, run: Path) -> None:
        self.path, self._step = run / "traces.jsonl", 0
        self._steps: dict[int, dict[str, deque[Trajectory]]] = defaultdict(lambda: defaultdict(deque))
        for row in read_rows(self.path):
            self._steps[row["step"]][row["pair_id"]].append(Trajectory.model_validate(row["trajectory"]))

    def run(self, pairs: Sequence[ReasoningPair], sampling: Sampling) -> list[Trajectory]:
        """Returns the episodes of the next step for these pairs, in order.

        Raises:
            JudgeError: an episode is missing or left over.
        """
        self._step += 1
        step, found = self._steps[self._step], []
        for pair in pairs:
            if not step[pair.pair_id]:
                raise JudgeError(
                    f"{self.path} lacks episodes of pair {pair.pair_id} in step {self._step}: train that run with "
                    "grpo.traced_pairs no smaller than grpo.pairs_per_step"
                )
            found.append(step[pair.pair_id].popleft())
        if any(step.values()):
            raise JudgeError(f"{self.path} has other episodes in step {self._step} than those of this run's pairs")
        return found
