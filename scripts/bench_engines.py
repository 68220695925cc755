"""One GRPO recipe on both engines, from one warm-up, on top of a finished demo: what they learn, and where time goes.

    judge-r1 demo && OMP_NUM_THREADS=1 python scripts/bench_engines.py --demo runs/demo --out runs/engines

The numbers of docs/engines.md come from here. Runs that are there are not done again (`--engine` picks one); `--steps`
cuts the training short, for timings alone.
"""

import argparse
from pathlib import Path
from statistics import median

from rich.console import Console

from judge_r1.backends import Sampling
from judge_r1.commands.demo import RECIPES
from judge_r1.commands.evaluate import Evaluation
from judge_r1.commands.train import run_recipe
from judge_r1.config import load_recipe
from judge_r1.pairs import load_pairs
from judge_r1.runs import read_rows

ENGINES = ("trl", "verl")
STAGES = ("generation", "search", "score", "update", "sync", "step")
"""As docs/watching.md has them. verl's generation holds up to 2 s of waiting for its poll; its search is the wait of an
episode, beside which others go on."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=Path("runs/demo"))
    parser.add_argument("--out", type=Path, default=Path("runs/engines"))
    parser.add_argument("--engine", choices=ENGINES, action="append")
    parser.add_argument("--steps", type=int)
    given = parser.parse_args()
    engines, console = given.engine or list(ENGINES), Console(soft_wrap=True)
    start = given.demo / "warmup" / "model"
    changes = [f"data.train={given.demo / 'data' / 'train'}", f"model={start}"]
    changes += [f"grpo.steps={given.steps}"] if given.steps else []
    for engine in engines:
        run_recipe(load_recipe(RECIPES / "grpo.yaml", [*changes, f"grpo.engine={engine}"]), given.out / engine)
    for engine in engines:
        _print_steps(engine, given.out, console)
    test = load_pairs(given.demo / "data" / "test")
    evaluation = Evaluation(test, given.out / "eval", resume=True)
    for row, model in [("warm-up", start), *((f"GRPO on {e}", given.out / e / "model") for e in engines)]:
        config = load_recipe(given.out / engines[0] / "recipe.yaml").episode
        evaluation.add(row, str(model), config, Sampling(), len(test.pairs))
    rows = [f"GRPO on {engine}" for engine in engines]
    evaluation.finish([(row, "warm-up") for row in rows] + ([(rows[1], rows[0])] if len(rows) == 2 else []))


def _print_steps(engine: str, out: Path, console: Console) -> None:
    """The reward of each step, and the median seconds of each stage from the second step on."""
    rows = [row for row in read_rows(out / engine / "metrics.jsonl") if "progress" in row]
    rewards = [f"{row['rollout/reward/r']:.2f}" for row in rows]
    console.print(f"{engine}: mean reward of each step: {' '.join(rewards)}")
    for stage in STAGES:
        seconds = [row[f"time/{stage}"] for row in rows[1:] if f"time/{stage}" in row]
        if seconds:
            spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
            console.print(f"{engine}: {stage}: {median(seconds):.2f} s a step, {spread}, {len(seconds)} steps")


if __name__ == "__main__":
    main()
