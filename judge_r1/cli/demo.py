"""demo: the whole pipeline on generated cases, in minutes, on a laptop."""

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from judge_r1.cli.options import MAX_SEED
from judge_r1.core.run_log import read_metrics
from judge_r1.models.base import Sampling
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe, load_recipe

if TYPE_CHECKING:
    from judge_r1.core.pair_set import PairSet


@dataclass(frozen=True)
class Size:
    """Number of cases, share of held-out cases, and overrides of the warm-up and GRPO recipes."""

    cases: int
    test_share: float
    warmup: tuple[str, ...]
    grpo: tuple[str, ...]


FULL = Size(cases=840, test_share=0.05, warmup=(), grpo=())
SMALL = Size(
    cases=120,
    test_share=0.05,
    warmup=("sft.traces=128",),
    grpo=("grpo.steps=2", "grpo.pairs_per_step=4", "grpo.micro_batch_size=32"),
)


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    small: Annotated[
        bool, typer.Option("--small", help="Run every step in about a minute; too small to learn.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of data and training.")] = 0,
) -> None:
    """Build pairs, warm up, train with search in the loop, evaluate on held-out cases, write a report.

    Re-running an interrupted demo resumes it.

    Example: `judge-r1 demo --out runs/demo`
    """
    size, console, started = SMALL if small else FULL, Console(), time.monotonic()
    console.rule("1  build pairs from generated cases", align="left")
    test = _build_pairs(out / "data", size, seed, console)
    recipes = _recipes(out, size, seed)
    trained = _train(out, recipes, console)
    console.rule("4  evaluate on held-out cases", align="left")
    _evaluate(out, recipes, test, resume=not trained)
    console.print(f"{time.monotonic() - started:.0f} s in total; open {out / 'report.html'}")


def _build_pairs(out: Path, size: Size, seed: int, console: Console) -> "PairSet":
    """Writes `out`/train and `out`/test; returns the test pairs."""
    from data_builders.audit.shortcut_probe import print_probe, probe
    from data_builders.build import build, write_pairs
    from data_builders.splits.split import split_by_case
    from judge_r1.core.pair_set import load_pairs

    build("mini", out, variants=1, seed=seed, limit=size.cases)
    train, test = split_by_case(load_pairs(out), size.test_share, seed)
    for name, part in (("train", train), ("test", test)):
        write_pairs(part, out / name)
        console.print(f"{name}: {len(part.pairs)} pairs of {len(part.cases)} cases")
    console.print("accuracy of classifiers that see the two reasonings without the case:")
    print_probe(probe(train.pairs, seed=seed), console)
    return test


def _train(out: Path, recipes: Mapping[str, Recipe], console: Console) -> bool:
    """Trains both stages; returns whether any of them was not finished before."""
    from data_builders.rationales.rules import recipe_traces

    console.rule("2  warm-up: SFT on rationales with search", align="left")
    warmed_up = run_recipe(recipes["warmup"], out / "warmup", rationales=recipe_traces)
    console.rule("3  GRPO with search in the loop", align="left")
    return run_recipe(recipes["grpo"], out / "grpo") or warmed_up


def _evaluate(out: Path, recipes: Mapping[str, Recipe], test: "PairSet", *, resume: bool) -> None:
    """Evaluates the judges of `JUDGES` on the test pairs; writes `out`/eval, report.html and summary.json."""
    from judge_r1.benchmarks.lrbench import pair_benchmark
    from judge_r1.evaluation.pipeline import Evaluation

    if not resume:
        shutil.rmtree(out / "eval", ignore_errors=True)
    with Evaluation(pair_benchmark(test), out / "eval", resume=True) as evaluation:
        for judge, stage, model in JUDGES:
            evaluation.add_agentic(
                judge, model or str(out / stage / "model"), recipes[stage].episode, Sampling(), len(test.pairs)
            )
        evaluation.finish(DIFFERENCES, {stage: read_metrics(out / stage / "metrics.jsonl") for stage in recipes})
    for file in ("report.html", "summary.json"):
        shutil.copy(out / "eval" / file, out / file)


JUDGES: Sequence[tuple[str, str, str | None]] = (
    ("base", "warmup", "bundled:tiny"),
    ("warm-up", "warmup", None),
    ("warm-up + GRPO", "grpo", None),
)
"""Name, stage whose episode settings it uses, and model (by default the one that the stage trained)."""
DIFFERENCES = [
    ("warm-up", "base"),
    ("warm-up + GRPO", "warm-up"),
]


def _recipes(out: Path, size: Size, seed: int) -> dict[str, Recipe]:
    shared = [f"data.train={out / 'data' / 'train'}", f"seed={seed}"]
    sizes = {"warmup": size.warmup, "grpo": size.grpo}
    start = {"grpo": [f"model={out / 'warmup' / 'model'}"]}
    return {
        name: load_recipe(Path("mini", name), [*shared, *overrides, *start.get(name, [])])
        for name, overrides in sizes.items()
    }
