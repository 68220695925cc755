"""Trains one GRPO recipe on both engines from the same warm-up model and compares accuracy and stage times.

    judge-r1 demo --source mini --out runs/mini
    OMP_NUM_THREADS=1 python -m scripts.bench.engines --demo runs/mini --out runs/engines --seed 0

Needs a finished demo. These are the numbers of docs/experiments/engines.md. Finished runs are not repeated. `--engine`
selects one engine, `--seed` may be repeated, and `--steps` shortens the training for timings.
"""

import argparse
from pathlib import Path
from statistics import median

from rich.console import Console
from scipy import stats

from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.pair_set import load_pairs
from judge_r1.core.run_log import read_metrics
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.models.base import Sampling
from judge_r1.statistics.intervals import difference_over_seeds
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import load_recipe

ENGINES = ("trl", "verl")
STAGES = ("generation", "search", "score", "update", "weight_sync", "step")
"""As docs/metrics.md has them. verl's generation holds up to 2 s of waiting for its poll; its search is the wait of an
episode, beside which others go on."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=Path("runs/mini"))
    parser.add_argument("--out", type=Path, default=Path("runs/engines"))
    parser.add_argument("--engine", choices=ENGINES, action="append")
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--steps", type=int)
    given = parser.parse_args()
    engines, seeds, console = given.engine or list(ENGINES), given.seed or [0], Console(soft_wrap=True)
    start = given.demo / "warmup" / "model"
    changes = [f"data.train={given.demo / 'data' / 'train'}", f"model={start}"]
    changes += [f"grpo.steps={given.steps}"] if given.steps else []
    runs = {(seed, engine): given.out / f"{engine}-{seed}" for seed in seeds for engine in engines}
    for (seed, engine), out in runs.items():
        run_recipe(load_recipe(Path("mini/grpo"), [*changes, f"seed={seed}", f"grpo.engine={engine}"]), out)
    for out in runs.values():
        _print_steps(out, console)
    test = load_pairs(given.demo / "data" / "test")
    names = {run: f"GRPO on {run[1]}, seed {run[0]}" for run in runs}
    with Evaluation(pair_benchmark(test), given.out / "eval", resume=True) as evaluation:
        for row, model in [("warm-up", start), *((names[run], out / "model") for run, out in runs.items())]:
            config = load_recipe(next(iter(runs.values())) / "recipe.yaml").episode
            evaluation.add_agentic(row, str(model), config, Sampling(), len(test.pairs))
        evaluation.finish([(row, "warm-up") for row in names.values()])
    if len(engines) == 2:
        last, first = (
            [{r.item_id: r.score for r in evaluation.results[names[seed, engine]].items} for seed in seeds]
            for engine in reversed(engines)
        )
        clusters = {pair.pair_id: test.case_of(pair).group for pair in test.pairs}
        difference = difference_over_seeds(last, first, clusters)
        console.print(f"accuracy of {engines[1]} minus {engines[0]}, paired on the same pairs: {difference.delta:+.3f}")
        console.print(f"95 % with these seeds and other cases: {_interval(difference.ci95)}")
        if len(seeds) > 1:
            by_seed = difference.by_seed
            other_seeds = stats.t.interval(0.95, len(by_seed) - 1, difference.delta, stats.sem(by_seed))
            console.print(f"95 % with other seeds and these cases (Student's t): {_interval(other_seeds)}")
            console.print(f"by seed: {' '.join(f'{one:+.3f}' for one in by_seed)}")


def _interval(ends: tuple[float, float]) -> str:
    return f"[{ends[0]:+.3f}, {ends[1]:+.3f}]"


def _print_steps(out: Path, console: Console) -> None:
    """The reward of each step, and the median seconds of each stage from the second step on."""
    rows = [row for row in read_metrics(out / "metrics.jsonl") if "progress" in row]
    rewards = [f"{row['rollout/reward/r']:.2f}" for row in rows]
    console.print(f"{out.name}: mean reward of each step: {' '.join(rewards)}")
    for stage in STAGES:
        seconds = [row[f"time/{stage}"] for row in rows[1:] if f"time/{stage}" in row]
        if seconds:
            spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
            console.print(f"{out.name}: {stage}: {median(seconds):.2f} s a step, {spread}, {len(seconds)} steps")


if __name__ == "__main__":
    main()
