"""train: run a recipe."""

import shlex
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import Trajectory
from judge_r1.training.recipe import Recipe
from judge_r1.training.resources import LOCAL, Resources, check, check_supported
from judge_r1.training.run_folder import RunFolder, finished

if TYPE_CHECKING:
    from judge_r1.training.stage_graph import StageRun


def register(app: typer.Typer) -> None:
    app.command()(train)


def train(
    recipe: Annotated[Path, typer.Argument(help="A recipe file, for example recipes/mini/warmup.yaml.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, for example grpo.steps=10.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; runs/NAME by default.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes for sft and dpo; one for each GPU by default.")
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="Machines of a Ray at RAY_ADDRESS (grpo on verl).")] = 1,
    gpus_per_node: Annotated[
        int | None, typer.Option(min=1, help="GPUs of each machine (grpo on verl); this machine's by default.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved recipe and what it costs.")] = False,
) -> None:
    """Train a judge, and first the ones that its recipe starts from, in run folders beside its own. An interrupted run
    goes on from its last checkpoint when the command is given again; a finished one is used as it is.

    Example: `judge-r1 train recipes/mini/grpo.yaml grpo.steps=10 --out runs/try`
    """
    from judge_r1.training.distributed import is_main, is_ours, is_worker
    from judge_r1.training.recipe import dump_recipe, load_recipe
    from judge_r1.training.stage_graph import links, remaining

    resolved = load_recipe(recipe, overrides or [])
    folder = out or Path("runs") / resolved.name
    chain = links(resolved, folder)
    place = Resources(processes, nodes, gpus_per_node)
    if dry_run:
        lines = _plan(chain, place, recipe, overrides or [])
        print(dump_recipe(resolved), end="")
        print("\n".join(lines))
        return
    left = remaining(chain)
    if is_worker() and sum(not finished(at) for _, at in left) > 1:
        raise JudgeError(
            f"recipe {resolved.name} starts from {left[-2][0].name}, which is not trained yet: torchrun trains one "
            "recipe at a time, so train that one first, or use --processes without torchrun"
        )
    console = Console(quiet=is_ours() or not is_main())
    check(chain, place)
    for link, at in left:
        if len(chain) > 1:
            console.rule(f"{link.name}, in {at}", align="left")
        run_recipe(link, at, place if len(chain) == 1 else place.of(link))
    console.print(f"model in {folder / 'model'}")


def _plan(chain: "Sequence[StageRun]", place: Resources, recipe: Path, overrides: Sequence[str]) -> list[str]:
    """What the runs cost, and the command that starts them. Errors: JudgeError where the place cannot train them."""
    import torch

    from judge_r1.training.cost_estimate.report import PAPER_GPUS, report

    gpus = place.gpus_per_node or torch.cuda.device_count() or PAPER_GPUS
    for link, _ in chain:
        check_supported(link, place if len(chain) == 1 else place.of(link))
    command = shlex.join(["judge-r1", "train", str(recipe), *overrides, *place.words, "--out", str(chain[-1][1])])
    return report(chain, command, gpus, place.nodes)


def run_recipe(recipe: Recipe, folder: Path, place: Resources = LOCAL) -> bool:
    """Run a resolved recipe into a folder; False where the trained model was there already. Where it trains in several
    processes, this one starts them and waits.

    Errors: JudgeError, among others where another process trains into the folder.
    """
    from judge_r1.core.file_lock import lock_folder
    from judge_r1.training.distributed import is_main, is_ours, launch, needs_launch, processes_for, worker

    check([(recipe, folder)], place)
    with nullcontext() if is_ours() or not is_main() else lock_folder(folder):
        run = RunFolder(folder, recipe)
        if finished(folder):
            return False
        count = processes_for(recipe, place.processes)
        if needs_launch(recipe, count):
            launch(folder, count)
        else:
            with worker():
                _train(recipe, run, place)
        return True


def _train(recipe: Recipe, run: RunFolder, place: Resources) -> None:
    """Train in this process, or in those of verl."""
    from judge_r1.core.jsonl import write_json
    from judge_r1.training.distributed import is_main
    from judge_r1.training.dpo import train_dpo
    from judge_r1.training.monitor.watch import shown
    from judge_r1.training.sft import train_sft
    from judge_r1.training.trackers import tracked
    from judge_r1.training.trl.grpo import train_grpo

    data = load_pairs(recipe.data.train)
    if is_main():
        write_json(run.folder / "data.json", {"pairs": len(data.pairs), "cases": len(data.cases)})
    with tracked(run, recipe) if is_main() else nullcontext(), shown(run, recipe):
        if recipe.on_verl:
            import torch

            from judge_r1.training.verl.runner import train_verl

            cpu = not torch.cuda.is_available()
            train_verl(recipe, recipe.data.train, run, cpu=cpu, nodes=place.nodes, gpus_per_node=place.gpus_per_node)
        elif recipe.stage == "grpo":
            train_grpo(recipe, data, run)
        elif recipe.stage == "dpo":
            train_dpo(recipe, data, run)
        else:
            train_sft(recipe, lambda: _traces(recipe, data, run.folder), run)


def _traces(recipe: Recipe, data: PairSet, folder: Path) -> list[Trajectory]:
    from data_builders.rationales.rules import warmup_traces
    from data_builders.rationales.store import stored_traces
    from judge_r1.core.jsonl import write_json
    from judge_r1.episode.tokenizer import SafeTokenizer
    from judge_r1.models.hub import load_tokenizer
    from judge_r1.training.data.single_turn_data import judgment_traces

    tokenizer = load_tokenizer(recipe.model)
    codec = SafeTokenizer(tokenizer)
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
