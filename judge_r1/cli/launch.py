"""launch: submit a recipe to a cluster."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from judge_r1.core.errors import JudgeError


def launch(
    recipe: Annotated[Path, typer.Argument(help="A recipe file, for example recipes/medical/sft.yaml.")],
    cluster: Annotated[Path, typer.Option("--cluster", help="A cluster file, for example clusters/slurm.yaml.")],
    overrides: Annotated[list[str] | None, typer.Argument(help="key=value, for example grpo.steps=10.")] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for the rendered file.")] = Path("runs/launched"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the rendered file and stop.")] = False,
) -> None:
    """Train a recipe on a cluster: Ray, Slurm, KubeRay or SkyPilot. Re-running the command after a job has ended
    resumes from the last checkpoint.

    Example: `judge-r1 launch recipes/medical/grpo.yaml --cluster clusters/slurm.yaml grpo.engine=verl --dry-run`
    """
    from judge_r1.files.jsonl import write_atomic
    from judge_r1.training.launch.cluster import load_cluster
    from judge_r1.training.launch.job import missing_data, plan
    from judge_r1.training.launch.render import file_of, render
    from judge_r1.training.launch.submit import command, send
    from judge_r1.training.recipe import load_recipe
    from judge_r1.training.verl.check_keys import BadVerlKey, can_check, check_keys

    job = plan(load_recipe(recipe, overrides or []), load_cluster(cluster))
    text, file, console = render(job), file_of(job, out), Console(stderr=True, soft_wrap=True)
    if job.recipe.on_verl and job.recipe.grpo.verl and can_check():
        try:
            check_keys(job.recipe, job.gpus, job.nodes)
        except BadVerlKey as error:
            raise JudgeError(f"{recipe}: {error}") from None
    if job.note:
        console.print(f"{job.name}: {job.note}", markup=False)
    for data in missing_data(job):
        console.print(f"{job.name}: {data} does not exist yet in {job.cluster.folder}", markup=False)
    if dry_run:
        print(text, end="")
        console.print(f"would be submitted with: {shlex.join(command(job, file))}", markup=False)
        return
    write_atomic(file, [text])
    print(f"{file} {send(job, file)}")
