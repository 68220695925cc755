"""Replays the episodes of a finished verl run through TRL's update and compares the resulting weights.

    judge-r1 demo --source mini --out runs/mini
    OMP_NUM_THREADS=1 judge-r1 train recipes/mini/grpo.yaml grpo.engine=verl grpo.traced_pairs=12 --out runs/replay/verl
    OMP_NUM_THREADS=1 python -m scripts.bench.replay runs/replay/verl --out runs/replay/trl

The run must have traced all of its episodes, as above. These are numbers of docs/experiments/other_numbers.csv.
"""

import argparse
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.core.records import Trajectory
from judge_r1.episode.questions import Question
from judge_r1.files.pair_set import load_pairs
from judge_r1.files.run_log import read_rows
from judge_r1.models.base import Sampling
from judge_r1.models.hub import load_model, resolve
from judge_r1.training.recipe import load_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.grpo import train_grpo

MEASURES = ("loss", "grad_norm", "kl", "entropy")


class RecordedRollouts:
    """Returns the episodes of a run's traces.jsonl, one step per call. The run must have traced all of its episodes
    (`grpo.traced_pairs`)."""

    def __init__(self, run: Path) -> None:
        self.path, self._step = run / "traces.jsonl", 0
        self._steps: dict[int, dict[str, deque[Trajectory]]] = defaultdict(lambda: defaultdict(deque))
        for row in read_rows(self.path):
            self._steps[row["step"]][row["pair_id"]].append(Trajectory.model_validate(row["trajectory"]))

    def run(self, pairs: Sequence[Question], sampling: Sampling) -> list[Trajectory]:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if given.out.exists():
        parser.error(f"{given.out} already exists: a replay starts at the first step; name another folder")
    recipe = load_recipe(given.run / "recipe.yaml", ["grpo.engine=trl"])
    run = RunFolder(given.out, recipe)
    train_grpo(recipe, load_pairs(recipe.data.train), run, RecordedRollouts(given.run))
    rows = [
        [row for row in read_rows(folder / "metrics.jsonl") if "progress" in row] for folder in (given.run, given.out)
    ]
    for verl, trl in zip(*rows, strict=True):
        print(f"step {verl['step']}:", ", ".join(f"{name} {verl[name]:.5f} / {trl[name]:.5f}" for name in MEASURES))
    start, verl, trl = (
        load_model(str(path)).state_dict() for path in (resolve(recipe.model), given.run / "model", run.model)
    )
    moved, apart = (
        sum(float(((one[name] - other[name]).double() ** 2).sum()) for name in one) ** 0.5
        for one, other in ((verl, start), (verl, trl))
    )
    if not moved:
        raise SystemExit("the run has moved no weight: the episodes of each group are alike, and nothing is compared")
    print(f"weights moved by {moved:.4f}; the engines are {apart:.5f} apart, {apart / moved:.2%} of it")


if __name__ == "__main__":
    main()
