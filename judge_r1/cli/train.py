"""train: run a recipe."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console

from judge_r1.cli.key_help import Keys, KeysCommand
from judge_r1.cli.options import refuse
from judge_r1.core.errors import ExitStatus, JudgeError
from judge_r1.core.text_check import counted

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judge_r1.training.recipe import Recipe


class _Train(KeysCommand):
    def panels(self) -> "dict[str, type[BaseModel]]":
        from judge_r1.episode.config import Budget, EpisodeConfig
        from judge_r1.training.recipe import DataConfig, Recipe
        from judge_r1.training.stage_config import DpoConfig, GrpoConfig, LoraConfig, SftConfig

        return {
            "Recipe": Recipe, "data.…": DataConfig, "episode.…": EpisodeConfig, "episode.budget.…": Budget,
            "sft.…": SftConfig, "dpo.…": DpoConfig, "grpo.…": GrpoConfig, "lora.…": LoraConfig,
        }  # fmt: skip


def register(app: typer.Typer) -> None:
    app.command(cls=_Train)(train)


def train(
    recipe: Annotated[Path, typer.Argument(help="A recipe file, for example recipes/mini/warmup.yaml.")],
    overrides: Keys = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder; runs/NAME by default.")] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Processes for sft and dpo per node; one for each GPU by default.")
    ] = None,
    nodes: Annotated[int, typer.Option(min=1, help="Machines: nodes of the Ray cluster.")] = 1,
    gpus_per_node: Annotated[
        int | None, typer.Option(min=1, help="GPUs per node; those of this machine by default.")
    ] = None,
    gpu: Annotated[
        Literal["A100", "H100", "H200", "B200"] | None,
        typer.Option("--gpu", help="GPU for the estimates of --dry-run; this machine's by default."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved recipe and its cost.")] = False,
) -> None:
    """Train a judge, and first the recipes that it starts from, each in its own run folder. Re-running an interrupted
    command resumes from the last checkpoint. Finished stages are used as they are.

    Example: `judge-r1 train recipes/mini/grpo.yaml grpo.steps=10 --out runs/try`
    """
    from judge_r1.training.recipe import DEV_METRICS, dump_recipe, load_recipe

    if not dry_run:
        refuse("goes with --dry-run", gpu=gpu)
    resolved = load_recipe(recipe, overrides or [])

    from data_builders.rationales.rules import recipe_rationales
    from judge_r1.training.distributed import is_main, is_ours
    from judge_r1.training.pipeline import estimate_costs, run_stages
    from judge_r1.training.resources import Resources
    from judge_r1.training.run_folder import RunFolder
    from judge_r1.training.stage_graph import stage_runs
    from judge_r1.training.verl.check_keys import BadVerlKey

    folder = out or Path("runs") / resolved.name
    stages, resources = stage_runs(resolved, folder), Resources(processes, nodes, gpus_per_node)
    if dry_run:
        command = ["judge-r1", "train", str(recipe), *(overrides or []), *resources.options, "--out", str(folder)]
        try:
            lines = estimate_costs(stages, resources, shlex.join(command), gpu)
        except BadVerlKey as error:
            raise JudgeError(f"{recipe}: {error}") from None
        print(dump_recipe(resolved), end="")
        print("\n".join(lines))
        if any(line.startswith("#   not possible: ") for line in lines):
            raise typer.Exit(ExitStatus.USAGE)
        return
    console = Console(quiet=is_ours() or not is_main())

    def print_header(stage_recipe: "Recipe", stage_folder: Path) -> None:
        if len(stages) > 1:
            console.rule(f"{stage_recipe.name}, in {stage_folder}", align="left")

    try:
        trained = run_stages(stages, resources, rationales=recipe_rationales, on_stage=print_header)
    except BadVerlKey as error:
        raise JudgeError(f"{recipe}: {error}") from None
    if not trained:
        steps = counted(RunFolder(folder, stages[-1][0]).last_step, "step")
        console.print(
            f"the run in {folder} is complete ({steps}), so nothing was trained: to train more, start from its model "
            f"with model={folder / 'model'} and another --out; to train anew, choose another --out, or remove the "
            "folder",
            soft_wrap=True, markup=False, highlight=False,
        )  # fmt: skip
    console.print(f"model in {folder / 'model'}")
    if (folder / "best" / "config.json").exists():
        console.print(f"best model by {resolved.best_metric or DEV_METRICS[resolved.stage][0]} in {folder / 'best'}")
