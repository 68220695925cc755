"""One GRPO recipe on both engines, from one warm-up, on top of a finished demo: what they learn, and where time goes.

    judge-r1 demo && OMP_NUM_THREADS=1 python scripts/bench_engines.py --demo runs/demo --out runs/engines

The numbers of docs/engines.md come from here. Runs that are there are not done again (`--engine` picks one); `--steps`
cuts the training short, for timings alone.
"""

import argparse
import functools
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from judge_r1.backends import Sampling
from judge_r1.commands.demo import RECIPES
from judge_r1.commands.evaluate import Evaluation
from judge_r1.commands.train import run_recipe
from judge_r1.config import load_recipe
from judge_r1.jsonl import write_json
from judge_r1.pairs import load_pairs
from judge_r1.runs import read_rows
from judge_r1.training.measures import verl_name

ENGINES = ("trl", "verl")
VERL_STAGES = {
    "rollout": "timing_s/gen",
    "log-probs": "timing_s/old_log_prob",
    "reference": "timing_s/ref",
    "advantages": "timing_s/adv",
    "update": "timing_s/update_actor",
    "weight sync": "timing_s/update_weights",
    "step": "timing_s/step",
}
"""The rollout holds up to 2 s of waiting for verl's poll, and the searches, which run beside generation."""


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
        train = _timed_trl(given.out / "trl_stages.json")(run_recipe) if engine == "trl" else run_recipe
        train(load_recipe(RECIPES / "grpo.yaml", [*changes, f"grpo.engine={engine}"]), given.out / engine)
    for engine in engines:
        _print_steps(engine, given.out, console)
    test = load_pairs(given.demo / "data" / "test")
    evaluation = Evaluation(test, given.out / "eval", resume=True)
    for row, model in [("warm-up", start), *((f"GRPO on {e}", given.out / e / "model") for e in engines)]:
        config = load_recipe(given.out / engines[0] / "recipe.yaml").episode
        evaluation.add(row, str(model), config, Sampling(), len(test.pairs))
    rows = [f"GRPO on {engine}" for engine in engines]
    evaluation.finish([(row, "warm-up") for row in rows] + ([(rows[1], rows[0])] if len(rows) == 2 else []))


def _timed_trl(file: Path) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Times TRL's stages, which its own log does not tell apart, while `function` runs."""

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        import torch
        import trl

        from judge_r1.training import grpo

        steps: list[dict[str, float]] = []
        spent: dict[str, float] = defaultdict(float)

        def timed(owner: Any, name: str, stage: str, when: Callable[[], bool] = lambda: True) -> None:
            plain = getattr(owner, name)

            @functools.wraps(plain)
            def run(*args: Any, **kwargs: Any) -> Any:
                started, counted = time.perf_counter(), when()
                try:
                    return plain(*args, **kwargs)
                finally:
                    if counted:
                        spent[stage] += time.perf_counter() - started

            setattr(owner, name, run)

        class Trainer(trl.GRPOTrainer):  # type: ignore[misc]
            def log(self, *args: Any, **kwargs: Any) -> None:
                steps.append(dict(spent))
                spent.clear()
                super().log(*args, **kwargs)

        timed(grpo.Rollouts, "__call__", "rollout")
        timed(Trainer, "_get_per_token_logps_and_entropies", "reference", lambda: not torch.is_grad_enabled())
        timed(Trainer, "training_step", "step")
        trl.GRPOTrainer = Trainer

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if function(*args, **kwargs):
                write_json(file, {"steps": [step for step in steps if "step" in step]})

        return call

    return wrapped


def _print_steps(engine: str, out: Path, console: Console) -> None:
    """The reward of each step, and the median seconds of each stage."""
    rows: dict[int, dict[str, Any]] = defaultdict(dict)
    for row in read_rows(out / engine / "metrics.jsonl"):
        rows[row["step"]] |= row
    rewards = [row["rollout/reward/r"] for row in rows.values() if "rollout/reward/r" in row]
    console.print(f"{engine}: mean reward of each step: {' '.join(f'{reward:.2f}' for reward in rewards)}")
    if engine == "verl":
        named = {name: verl_name(key) for name, key in VERL_STAGES.items()}
        stages = {name: [row[key] for row in rows.values() if key in row] for name, key in named.items()}
        stages["search, of an episode"] = [row["time/search"] for row in rows.values()]
    elif (out / "trl_stages.json").exists():
        import json

        found = json.loads((out / "trl_stages.json").read_text())["steps"]
        stages = {name: [step.get(name, 0.0) for step in found] for name in ("rollout", "reference", "step")}
        stages["update"] = [s["step"] - s.get("rollout", 0.0) - s.get("reference", 0.0) for s in found]
    else:
        return
    for name, seconds in stages.items():
        if seconds:
            spread = f"{min(seconds):.2f} to {max(seconds):.2f}"
            console.print(f"{engine}: {name}: {median(seconds):.2f} s a step, {spread}, {len(seconds)} steps")


if __name__ == "__main__":
    main()
