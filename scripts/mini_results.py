"""The long run behind docs/results.md: the grid of context and search, and GRPO over warm-up on three seeds.

About 40 minutes on two idle cores; goes on where it was stopped.

    python scripts/mini_results.py --out runs/mini-results
"""

import argparse
from pathlib import Path

from rich.console import Console

from data_builders.build import build, write_pairs
from data_builders.splits import split_by_case
from judge_r1.backends import Sampling
from judge_r1.commands.demo import FULL, RECIPES
from judge_r1.commands.evaluate import Evaluation
from judge_r1.commands.train import run_recipe
from judge_r1.config import load_recipe
from judge_r1.evaluation.statistics import paired_difference_ci
from judge_r1.jsonl import write_json
from judge_r1.pairs import load_pairs
from judge_r1.runs import read_rows

GRID = {
    "none, no search": "nosearch",
    "full, no search": "full",
    "none, search": "warmup",
    "full, search": "fullsearch",
}
SEEDS = (0, 1, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/mini-results"))
    parser.add_argument("--cases", type=int, default=FULL.cases)
    out = (args := parser.parse_args()).out
    console = Console()
    build("mini", out / "data", variants=1, seed=0, limit=args.cases)
    train, test = split_by_case(load_pairs(out / "data"), FULL.test_share, 0)
    write_pairs(train, out / "data" / "train")
    write_pairs(test, out / "data" / "test")
    evaluation = Evaluation(test, out / "eval", resume=True)
    curves = {}
    for row, name in GRID.items():
        recipe = load_recipe(RECIPES / f"{name}.yaml", [f"data.train={out / 'data' / 'train'}"])
        run_recipe(recipe, out / name)
        curves[name] = read_rows(out / name / "metrics.jsonl")
        evaluation.add(row, str(out / name / "model"), recipe.episode, Sampling(), len(test.pairs))
    for seed in SEEDS:
        shared = [f"data.train={out / 'data' / 'train'}", f"seed={seed}"]
        warmup = load_recipe(RECIPES / "warmup.yaml", shared)
        start = out / ("warmup" if seed == 0 else f"warmup-{seed}")
        run_recipe(warmup, start)
        grpo = load_recipe(RECIPES / "grpo.yaml", [*shared, f"model={start / 'model'}"])
        run_recipe(grpo, out / f"grpo-{seed}")
        curves[f"grpo-{seed}"] = read_rows(out / f"grpo-{seed}" / "metrics.jsonl")
        for row, folder in ((f"warm-up {seed}", start), (f"GRPO {seed}", out / f"grpo-{seed}")):
            evaluation.add(row, str(folder / "model"), grpo.episode, Sampling(), len(test.pairs))
    differences = [("none, search", "none, no search"), ("full, search", "full, no search")]
    differences += [(f"GRPO {seed}", f"warm-up {seed}") for seed in SEEDS]
    evaluation.finish(differences, curves)
    pooled = _over_seeds(evaluation)
    write_json(out / "seeds.json", pooled)
    console.print(f"GRPO minus warm-up over {len(SEEDS)} seeds, paired on the same pairs: {pooled}")


def _over_seeds(evaluation: Evaluation) -> dict[str, object]:
    """Each pair's accuracy and label F1 averaged over the seeds, GRPO minus warm-up, intervals clustered by case."""
    found: dict[str, object] = {}
    for name, measure in (("accuracy", lambda o: float(o.correct)), ("label_f1", lambda o: o.reward["F1"])):
        values = {}
        for stage in ("GRPO", "warm-up"):
            rows = [evaluation.outcomes[f"{stage} {seed}"] for seed in SEEDS]
            values[stage] = {o[0].pair_id: sum(map(measure, o)) / len(o) for o in zip(*rows, strict=True)}
        clusters = {pair.pair_id: pair.case_id for pair in evaluation.data.pairs}
        delta = sum(values["GRPO"].values()) / len(clusters) - sum(values["warm-up"].values()) / len(clusters)
        interval = paired_difference_ci(values["GRPO"], values["warm-up"], clusters)
        found[name] = {"delta": round(delta, 4), "ci95": [round(bound, 4) for bound in interval]}
    return found


if __name__ == "__main__":
    main()
