"""train: run a recipe."""

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from judge_r1.config import Recipe
from judge_r1.pairs import PairSet, load_pairs
from judge_r1.records import Trajectory

if TYPE_CHECKING:
    from judge_r1.training.chain import Link


def register(app: typer.Typer) -> None:
    app.command()(train)


def train(
    recipe: Annotated[Path, typer.Argument(help="A recipe file, for example recipes/mini/warmup.yaml.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, for example grpo.steps=10.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; runs/NAME by default.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved recipe and what it costs.")] = False,
) -> None:
    """Train a judge, and first the ones that its recipe starts from, in run folders beside its own. An interrupted run
    goes on from its last checkpoint when the command is given again; a finished one is used as it is.

    Example: `judge-r1 train recipes/mini/grpo.yaml grpo.steps=10 --out runs/try`
    """
    from judge_r1.config import dump_recipe, load_recipe
    from judge_r1.training.chain import links, remaining

    resolved = load_recipe(recipe, overrides or [])
    folder = out or Path("runs") / resolved.name
    chain = links(resolved, folder)
    if dry_run:
        print(dump_recipe(resolved), end="")
        print("\n".join(_plan(chain, recipe, overrides or [])))
        return
    console = Console()
    for link, at in remaining(chain):
        if len(chain) > 1:
            console.rule(f"{link.name}, in {at}", align="left")
        run_recipe(link, at)
    console.print(f"model in {folder / 'model'}")


def _plan(chain: "Sequence[Link]", recipe: Path, overrides: Sequence[str]) -> list[str]:
    """What the runs cost, and the command that starts them."""
    import torch

    from judge_r1.training.plan.report import PAPER_GPUS, report

    command = shlex.join(["judge-r1", "train", str(recipe), *overrides, "--out", str(chain[-1][1])])
    return report(chain, command, torch.cuda.device_count() or PAPER_GPUS)


def run_recipe(recipe: Recipe, folder: Path) -> bool:
    """Run a resolved recipe into a folder; False where the trained model was there already."""
    from judge_r1.runs import Run
    from judge_r1.training.grpo import train_grpo
    from judge_r1.training.sft import train_sft

    run = Run(folder, recipe)
    if (run.model / "config.json").exists():
        return False
    data = load_pairs(recipe.data.train)
    if recipe.stage == "grpo" and recipe.grpo.engine == "verl":
        import torch

        from judge_r1.training.verl.train import train_verl

        train_verl(recipe, recipe.data.train, run, cpu=not torch.cuda.is_available())
    elif recipe.stage == "grpo":
        train_grpo(recipe, data, run)
    else:
        train_sft(recipe, _traces(recipe, data, folder), run)
    return True


def _traces(recipe: Recipe, data: PairSet, folder: Path) -> list[Trajectory]:
    from data_builders.rationales import warmup_traces
    from data_builders.traces_file import stored_traces
    from judge_r1.jsonl import write_json
    from judge_r1.models import load_tokenizer
    from judge_r1.tokens import Codec

    codec = Codec(load_tokenizer(recipe.model))
    if file := recipe.sft.traces_file:
        rejected: Counter[str] = Counter()
        found = list(stored_traces(file, data, recipe.episode, codec, wanted=recipe.sft.traces, rejected=rejected))
    else:
        found, rejected = warmup_traces(data, recipe, codec)
    write_json(folder / "traces.json", {"used": len(found), "rejected": dict(sorted(rejected.items()))})
    wanted = recipe.sft.traces or len(found) + rejected.total()
    if len(found) < wanted:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(rejected.items()))
        Console().print(f"{len(found)} of {wanted} wanted traces; rejected: {reasons or 'none'}", soft_wrap=True)
    return found
