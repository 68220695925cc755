"""Reproduces the `mini` numbers of docs/experiments/mini_judges.md on top of a finished demo.

Trains warm-up and GRPO with two more seeds, and the grid of context and search after SFT on careful rationales. Takes
about half an hour on two idle cores. A stopped run resumes.

    judge-r1 demo --source mini --out runs/mini
    python scripts/reproduce_mini_results.py --demo runs/mini
"""

import argparse
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from data_builders.rationales.rules import recipe_traces
from judge_r1.benchmarks.lrbench import pair_benchmark
from judge_r1.core.items import ItemResult
from judge_r1.core.jsonl import write_json
from judge_r1.core.pair_set import load_pairs
from judge_r1.core.run_log import read_metrics
from judge_r1.evaluation.metrics import result_scores
from judge_r1.evaluation.pipeline import Evaluation
from judge_r1.models.base import Sampling
from judge_r1.statistics.intervals import difference_over_seeds
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import load_recipe

GRID = {
    "none, no search": "nosearch",
    "none, search": "search",
    "full, no search": "full",
    "full, search": "fullsearch",
}
SEEDS = (0, 1, 2)
STAGES = ("warmup", "grpo")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=Path("runs/mini"))
    demo: Path = parser.parse_args().demo
    test = load_pairs(demo / "data" / "test")
    train = f"data.train={demo / 'data' / 'train'}"
    evaluation = Evaluation(pair_benchmark(test), demo / "grid", resume=True)

    def add(row: str, recipe: str, folder: Path, *changes: str) -> None:
        run_recipe(load_recipe(Path("mini", recipe), [train, *changes]), folder, rationales=recipe_traces)
        episode = load_recipe(folder / "recipe.yaml").episode
        evaluation.add_agentic(row, str(folder / "model"), episode, Sampling(), len(test.pairs))

    folders = {seed: {stage: demo / (f"{stage}-{seed}" if seed else stage) for stage in STAGES} for seed in SEEDS}
    for seed, at in folders.items():
        add(f"warm-up, seed {seed}", "warmup", at["warmup"], f"seed={seed}")
        add(f"GRPO, seed {seed}", "grpo", at["grpo"], f"seed={seed}", f"model={at['warmup'] / 'model'}")
    for row, name in GRID.items():
        add(row, name, demo / name, "seed=0")
    differences = [(f"GRPO, seed {seed}", f"warm-up, seed {seed}") for seed in SEEDS]
    differences += [("none, search", "none, no search"), ("full, search", "full, no search")]
    differences += [("GRPO, seed 0", "none, search")]
    curves = {f"GRPO, seed {seed}": read_metrics(at["grpo"] / "metrics.jsonl") for seed, at in folders.items()}
    evaluation.finish(differences, curves)
    gain = {"accuracy": _gain(evaluation, lambda result: result.score)}
    gain["label_f1"] = _gain(evaluation, lambda result: result_scores(result).f1)
    write_json(demo / "grid" / "seeds.json", gain)
    Console().print(f"GRPO minus warm-up, mean of {len(SEEDS)} seeds, paired on the same pairs: {gain}")


def _gain(evaluation: Evaluation, measure: Callable[[ItemResult], float]) -> dict[str, object]:
    after, before = (
        [{r.item_id: measure(r) for r in evaluation.results[f"{row}, seed {seed}"].items} for seed in SEEDS]
        for row in ("GRPO", "warm-up")
    )
    clusters = {r.item_id: r.cluster_id for results in evaluation.results.values() for r in results.items}
    return asdict(difference_over_seeds(after, before, clusters))


if __name__ == "__main__":
    main()
