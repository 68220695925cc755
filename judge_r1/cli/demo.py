"""demo: the whole pipeline on generated cases, in minutes, on a laptop."""

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judge_r1.cli.options import MAX_SEED
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from judge_r1.files.pair_set import PairSet
    from judge_r1.training.recipe import Recipe


@dataclass(frozen=True)
class Size:
    """Number of cases, of held-out ones among or beside them, and overrides of the warm-up and GRPO recipes."""

    cases: int
    held_out: int
    warmup: tuple[str, ...] = ()
    grpo: tuple[str, ...] = ()


class Source(str, Enum):
    """The generated corpora of the demo. Each has its recipes in `recipes/`."""

    HAYSTACK = "haystack"
    MINI = "mini"


SMALL_WARMUP = ("sft.examples=128",)
SMALL_GRPO = ("grpo.steps=2", "grpo.pairs_per_step=4", "grpo.updates_per_step=2", "grpo.micro_batch_size=16")
FULL = {
    Source.HAYSTACK: Size(600, 30),
    Source.MINI: Size(840, 42),
}
SMALL = {
    Source.HAYSTACK: Size(30, 3, SMALL_WARMUP, SMALL_GRPO),
    Source.MINI: Size(120, 6, SMALL_WARMUP, SMALL_GRPO),
}


def demo(
    small: Annotated[
        bool, typer.Option("--small", help="Run every step in about a minute; too small to learn.")
    ] = False,
    source: Annotated[Source, typer.Option("--source", help="Generated corpus.")] = Source.HAYSTACK,
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(min=0, max=MAX_SEED, help="Seed of training, and of the data of mini.")] = 0,
) -> None:
    """Build pairs, warm up, train with search in the loop, evaluate on held-out cases, write a report.

    Run an interrupted demo again to resume it. To train a finished one anew, choose another --out.

    Example: `judge-r1 demo --out runs/demo`
    """
    for module in ("torch", "trl", "sklearn", "faiss"):
        if find_spec(module) is None:
            raise ModuleNotFoundError(name=module)  # before minutes of work
    from judge_r1.training.run_folder import refuse_other_run

    size, console, started = (SMALL if small else FULL)[source], Console(), time.monotonic()
    recipes = _recipes(source, out, size, seed)
    for stage, recipe in recipes.items():
        refuse_other_run(out / stage, recipe)  # such as of --small, before the data of another size replace its data
    console.rule("1  build pairs from generated cases", align="left")
    test = _build_pairs(source, out / "data", size, seed, console)
    trained = _train(out, recipes, console)
    console.rule("4  evaluate on held-out cases", align="left")
    summary = _evaluate(source, out, recipes, test, resume=not trained, brief=small)
    console.print(what_was_learned(summary, source, small=small), markup=False, highlight=False)
    if source is Source.HAYSTACK and not small:
        print_published(console)
        console.rule("5  the trained judge at work: the first held-out pair that only the case decides", align="left")
        console.print(one_episode(out / "eval", test), markup=False, highlight=False)
    console.print(f"{time.monotonic() - started:.0f} s in total; open {out / 'report.html'}")


def _build_pairs(source: Source, out: Path, size: Size, seed: int, console: Console) -> "PairSet":
    """Writes `out`/train and `out`/test; returns the test pairs."""
    from data_builders.audit.shortcut_probe import print_probe, probe

    train, test = (_haystack if source is Source.HAYSTACK else _mini)(out, size, seed)
    for name, part in (("train", train), ("test", test)):
        console.print(f"{name}: {counted(len(part.pairs), 'pair')} of {counted(len(part.cases), 'case')}")
    console.print("accuracy of classifiers that see the two reasonings without the case:")
    print_probe(probe(train.pairs, seed=seed), console)
    return test


def _haystack(out: Path, size: Size, seed: int) -> "tuple[PairSet, PairSet]":
    """The data of the published runs, whose seeds are reserved, with held-out cases of the demo's own."""
    from data_builders.haystack_splits import build_split, check_splits

    check_splits({"train": size.cases, "demo": size.held_out})
    return build_split(out / "train", "train", size.cases), build_split(out / "test", "demo", size.held_out)


def _mini(out: Path, size: Size, seed: int) -> "tuple[PairSet, PairSet]":
    from data_builders.build import build, write_pairs
    from data_builders.splits.split import split_by_case
    from judge_r1.files.pair_set import load_pairs

    build("mini", out, variants=1, seed=seed, limit=size.cases)
    train, test = split_by_case(load_pairs(out), size.held_out / size.cases, seed)
    for name, part in (("train", train), ("test", test)):
        write_pairs(part, out / name)
    return train, test


def _train(out: Path, recipes: "Mapping[str, Recipe]", console: Console) -> bool:
    """Trains both stages; returns whether any of them was not finished before."""
    from data_builders.rationales.rules import recipe_rationales
    from judge_r1.training.pipeline import run_recipe

    titles = {"warmup": "2  warm-up: SFT on rationales with search", "grpo": "3  GRPO with search in the loop"}
    trained = False
    for stage, title in titles.items():
        console.rule(title, align="left")
        if run_recipe(recipes[stage], out / stage, rationales=recipe_rationales):
            trained = True
        else:
            console.print(f"finished before, and kept: {out / stage}", markup=False)
    return trained


def _evaluate(
    source: Source, out: Path, recipes: "Mapping[str, Recipe]", test: "PairSet", *, resume: bool, brief: bool
) -> dict[str, Any]:
    """Evaluates the base and both stages on the test pairs; writes `out`/eval, report.html and summary.json."""
    from judge_r1.benchmarks.lrbench import pair_benchmark
    from judge_r1.evaluation.pipeline import Evaluation
    from judge_r1.files.run_log import read_rows
    from judge_r1.models.base import Sampling
    from judge_r1.training.recipe import load_recipe

    if not resume:
        shutil.rmtree(out / "eval", ignore_errors=True)
    models = {
        "base": ("warmup", load_recipe(Path(source.value, "base")).model),
        "warm-up": ("warmup", str(out / "warmup" / "model")),
        TRAINED: ("grpo", str(out / "grpo" / "model")),
    }
    with Evaluation(pair_benchmark(test), out / "eval", resume=True) as evaluation:
        for judge, (stage, model) in models.items():
            evaluation.add_agentic(judge, model, recipes[stage].episode, Sampling(), len(test.pairs))
        curves = {stage: read_rows(out / stage / "metrics.jsonl") for stage in recipes}
        summary = evaluation.finish(DIFFERENCES, curves, brief=brief, title=TITLES[source], opens=TRAINED)
    for file in ("report.html", "summary.json"):
        shutil.copy(out / "eval" / file, out / file)
    return summary


def what_was_learned(summary: Mapping[str, Any], source: Source, *, small: bool) -> str:
    """Says in words what the table shows."""
    if not any(row["valid_rate"] for row in summary["rows"] if not row.get("settings", {}).get("baseline")):
        found = ["Nothing could be learned: no answer of any judge is valid."]
    else:
        found = [
            f"{one['a']} {_compared(*one['ci95'])} {one['b']}: {one['delta']:+.2f} accuracy "
            f"[{one['ci95'][0]:+.2f}, {one['ci95'][1]:+.2f}]."
            for one in summary["differences"]
        ]
    if small:
        whole = "judge-r1 demo" + (f" --source {source.value}" if source is Source.MINI else "")
        found.append(f"--small runs every step, but trains too little: `{whole}` runs the whole training.")
    return "\n".join(found)


def _compared(low: float, high: float) -> str:
    return "is better than" if low > 0 else "is worse than" if high < 0 else "does not differ significantly from"


def print_published(console: Console) -> None:
    """Prints the trained rows of docs/haystack.md, means over seeds on its test set, to compare with this one run."""
    from judge_r1.training.shipped_recipes import recipes_folder

    published = json.loads((recipes_folder() / "haystack" / "results.json").read_text(encoding="utf-8"))
    columns = {"accuracy": "accuracy", "label_f1": "label F1", "searches": "searches", "P2": "P2", "P4": "P4"}
    table = Table(
        "published", "seeds", *columns.values(), title="The recipe: means over seeds on its test set (docs/haystack.md)"
    )
    for row in (row for row in published["rows"] if "," not in row):  # the others are tests of trained rows
        means = published["rows"][row]
        table.add_row(row, str(published["seeds"][row]), *(f"{means[column]:.2f}" for column in columns))
    console.print(table)


def one_episode(evaluation: Path, test: "PairSet") -> str:
    """The first test pair that violates P2 alone: where its reasonings differ, the episode of the trained judge, and
    the label. The pair is not chosen by its outcome, so the judge may be wrong."""
    from judge_r1.core.principles import by_number
    from judge_r1.evaluation.votes import stored_votes

    pair = next(pair for pair in test.pairs if pair.violated == (2,))
    stored = next(stored for stored in stored_votes(evaluation, TRAINED) if stored.item_id == pair.pair_id)
    sides = {"A": pair.reasoning_a.splitlines(), "B": pair.reasoning_b.splitlines()}
    shared = set(sides["A"]) & set(sides["B"])
    shown = [f"{side}: {line}" for side, lines in sides.items() for line in lines if line not in shared]
    for turn in stored.trajectory.turns:
        shown += [part.strip() for part in (turn.text, turn.observation) if part]
    return "\n".join([*shown, f"label: {pair.preferred} is better, the other violates {by_number(2).name}"])


TRAINED = "warm-up + GRPO"
TITLES = {
    Source.HAYSTACK: "Learning where to search by GRPO: a judge of 0.8 M parameters in the toy language haystack",
    Source.MINI: "Learning to judge by GRPO: a model of 1.2 M parameters in the toy language mini",
}
"""Titles of the report."""
DIFFERENCES = [("warm-up", "base"), (TRAINED, "warm-up")]


def _recipes(source: Source, out: Path, size: Size, seed: int) -> "dict[str, Recipe]":
    from judge_r1.training.recipe import load_recipe

    shared = [f"data.train={out / 'data' / 'train'}", f"seed={seed}"]
    own = {"warmup": size.warmup, "grpo": (*size.grpo, f"model={out / 'warmup' / 'model'}")}
    return {name: load_recipe(Path(source.value, name), [*shared, *overrides]) for name, overrides in own.items()}
