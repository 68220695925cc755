"""Replays the episodes of a finished verl run through TRL's update and compares the resulting weights.

    judge-r1 demo --source mini --out runs/mini
    OMP_NUM_THREADS=1 judge-r1 train recipes/mini/grpo.yaml grpo.engine=verl grpo.traced_pairs=12 --out runs/replay/verl
    OMP_NUM_THREADS=1 python -m scripts.bench.replay runs/replay/verl --out runs/replay/trl

The run must have traced all of its episodes, as above. These are numbers of docs/experiments/engines.md.
"""

import argparse
from pathlib import Path

from judge_r1.core.pair_set import load_pairs
from judge_r1.core.run_log import read_rows
from judge_r1.models.hub import load_model, resolve
from judge_r1.training.recipe import load_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl.grpo import train_grpo
from scripts.recorded_rollouts import RecordedRollouts

MEASURES = ("loss", "grad_norm", "kl", "entropy")


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
