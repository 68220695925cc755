"""The long run behind docs/results.md, on top of a finished demo: the rest of the grid of context and search, and GRPO
on two more seeds from the same warm-up. About 20 minutes on two idle cores; goes on where it was stopped.

    judge-r1 demo && python scripts/mini_results.py --demo runs/demo
"""

import argparse
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from judge_r1.backends import Sampling
from judge_r1.commands.demo import RECIPES
from judge_r1.commands.evaluate import Evaluation
from judge_r1.commands.train import run_recipe
from judge_r1.config import load_recipe
from judge_r1.evaluation.outcomes import Outcome
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
SEEDS = ("grpo", "grpo-1", "grpo-2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--demo", type=Path, default=Path("runs/demo"))
    demo: Path = parser.parse_args().demo
    test = load_pairs(demo / "data" / "test")
    train = f"data.train={demo / 'data' / 'train'}"
    evaluation = Evaluation(test, demo / "grid", resume=True)

    def judge(row: str, folder: Path) -> None:
        episode = load_recipe(folder / "recipe.yaml").episode
        evaluation.add(row, str(folder / "model"), episode, Sampling(), len(test.pairs))

    for name in SEEDS[1:]:
        changes = [train, f"model={demo / 'warmup' / 'model'}", f"seed={name[-1]}"]
        run_recipe(load_recipe(RECIPES / "grpo.yaml", changes), demo / name)
    for name in SEEDS:
        judge(f"GRPO ({name})", demo / name)
    for row, name in GRID.items():
        run_recipe(load_recipe(RECIPES / f"{name}.yaml", [train, "seed=0"]), demo / name)
        judge(row, demo / name)
    differences = [(f"GRPO ({name})", "none, search") for name in SEEDS]
    differences += [("none, search", "none, no search"), ("full, search", "full, no search")]
    evaluation.finish(differences, {name: read_rows(demo / name / "metrics.jsonl") for name in SEEDS})
    gain = {"accuracy": _gain(evaluation, _correct), "label_f1": _gain(evaluation, _f1)}
    write_json(demo / "grid" / "seeds.json", gain)
    Console().print(f"GRPO minus warm-up, mean of {len(SEEDS)} seeds, paired on the same pairs: {gain}")


def _correct(outcome: Outcome) -> float:
    return float(outcome.correct)


def _f1(outcome: Outcome) -> float:
    return outcome.reward["F1"]


def _gain(evaluation: Evaluation, measure: Callable[[Outcome], float]) -> dict[str, object]:
    """Each pair's value averaged over the seeds, minus the warm-up's; the interval is clustered by case."""
    rows = [evaluation.outcomes[f"GRPO ({name})"] for name in SEEDS]
    after = {o[0].pair_id: sum(map(measure, o)) / len(o) for o in zip(*rows, strict=True)}
    before = {o.pair_id: measure(o) for o in evaluation.outcomes["none, search"]}
    interval = paired_difference_ci(after, before, {o.pair_id: o.case_id for o in rows[0]})
    delta = sum(after.values()) / len(after) - sum(before.values()) / len(before)
    return {"delta": round(delta, 4), "ci95": [round(bound, 4) for bound in interval]}


if __name__ == "__main__":
    main()
