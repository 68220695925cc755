"""train: run a recipe."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from judge_r1.config import Recipe
from judge_r1.pairs import PairSet, load_pairs
from judge_r1.records import Trajectory
from judge_r1.runs import Run


def register(app: typer.Typer) -> None:
    app.command()(train)


def train(
    recipe: Annotated[Path, typer.Argument(help="A recipe file, for example recipes/mini/warmup.yaml.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, for example grpo.steps=10.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; runs/NAME by default.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes for sft and dpo; one for each GPU by default.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved recipe and stop.")] = False,
) -> None:
    """Train a judge. An interrupted run goes on from its last checkpoint when the command is given again.

    Example: `judge-r1 train recipes/mini/grpo.yaml grpo.steps=10 --out runs/try`
    """
    from judge_r1.config import dump_recipe, load_recipe
    from judge_r1.training.processes import is_main, is_ours

    resolved = load_recipe(recipe, overrides or [])
    if dry_run:
        print(dump_recipe(resolved), end="")
        return
    folder = out or Path("runs") / resolved.name
    run_recipe(resolved, folder, processes)
    if is_main() and not is_ours():
        Console().print(f"model in {folder / 'model'}")


def run_recipe(recipe: Recipe, folder: Path, processes: int | None = None) -> bool:
    """Run a resolved recipe into a folder; False where the trained model was there already. SFT and DPO run in as many
    `processes` as there are GPUs, unless the caller says: this one then starts them and waits."""
    from judge_r1.training.processes import launch, needs_launch, processes_for, worker

    run = Run(folder, recipe)
    if (run.model / "config.json").exists():
        return False
    count = processes_for(recipe, processes)
    if recipe.stage == "grpo" and recipe.grpo.engine == "verl":
        import torch

        from judge_r1.training.verl.train import train_verl

        train_verl(recipe, recipe.data.train, run, cpu=not torch.cuda.is_available())
        return True
    if needs_launch(recipe, count):
        launch(folder, count)
        return True
    with worker():
        _train(recipe, run)
    return True


def _train(recipe: Recipe, run: Run) -> None:
    """Train with TRL, in this process."""
    from judge_r1.training.dpo import train_dpo
    from judge_r1.training.grpo import train_grpo
    from judge_r1.training.sft import train_sft

    data = load_pairs(recipe.data.train)
    if recipe.stage == "grpo":
        train_grpo(recipe, data, run)
    elif recipe.stage == "dpo":
        train_dpo(recipe, data, run)
    else:
        train_sft(recipe, lambda: _traces(recipe, data, run.folder), run)


def _traces(recipe: Recipe, data: PairSet, folder: Path) -> list[Trajectory]:
    from data_builders.rationales import warmup_traces
    from data_builders.traces_file import stored_traces
    from judge_r1.jsonl import write_json
    from judge_r1.models import load_tokenizer
    from judge_r1.tokens import Codec
    from judge_r1.training.examples import judgment_traces

    tokenizer = load_tokenizer(recipe.model)
    codec = Codec(tokenizer)
    rejected: Counter[str]
    if recipe.sft.form != "traces":
        found, rejected = judgment_traces(data, recipe, codec, tokenizer.eos_token_id), Counter()
    elif file := recipe.sft.traces_file:
        rejected = Counter()
        found = list(stored_traces(file, data, recipe.episode, codec, wanted=recipe.sft.traces, rejected=rejected))
    else:
        found, rejected = warmup_traces(data, recipe, codec)
    write_json(folder / "traces.json", {"used": len(found), "rejected": dict(sorted(rejected.items()))})
    wanted = recipe.sft.traces or len(found) + rejected.total()
    if len(found) < wanted:
        reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(rejected.items()))
        Console().print(f"{len(found)} of {wanted} wanted traces; rejected: {reasons or 'none'}", soft_wrap=True)
    return found
