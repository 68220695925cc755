"""launch: run a recipe or another command on a cluster."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from judge_r1.core.errors import JudgeError

if TYPE_CHECKING:
    from judge_r1.training.launch.cluster import Cluster
    from judge_r1.training.launch.job import Job


def launch(
    context: typer.Context,
    recipe: Annotated[
        str, typer.Argument(help="A recipe file, for example recipes/medical/sft.yaml; or index, eval or serve.")
    ],
    cluster: Annotated[Path, typer.Option("--cluster", help="A cluster file, for example clusters/slurm.yaml.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="key=value, for example grpo.steps=10; of index, eval and serve the options, behind --."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for the rendered file.")] = Path("runs/launched"),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the rendered file and stop.")] = False,
) -> None:
    """Train a recipe on a cluster: Ray, Slurm, KubeRay or SkyPilot. Re-running the command after a job has ended
    resumes from the last checkpoint. `index`, `eval` and `serve` run there, too, on one machine.

    Example: `judge-r1 launch recipes/medical/grpo.yaml --cluster clusters/slurm.yaml grpo.engine=verl --dry-run`

    Example: `judge-r1 launch eval --cluster clusters/slurm.yaml -- --judge agentic@vllm:runs/medical/grpo/model
    --benchmark casebook --out runs/medical/eval`
    """
    from judge_r1.cli.key_help import once
    from judge_r1.files.jsonl import write_atomic
    from judge_r1.training.launch.cluster import load_cluster
    from judge_r1.training.launch.job import COMMANDS, missing_data, plan
    from judge_r1.training.launch.render import file_of, render
    from judge_r1.training.launch.submit import command, notes, send
    from judge_r1.training.recipe import load_recipe
    from judge_r1.training.verl.check_keys import BadVerlKey, can_check, check_keys

    where = load_cluster(cluster)
    if recipe in COMMANDS:
        job = _of_command(context, recipe, overrides or [], where)
    else:
        job = plan(load_recipe(Path(recipe), once(overrides) or []), where)
    text, file, console = render(job), file_of(job, out), Console(stderr=True, soft_wrap=True)
    if job.recipe and job.recipe.on_verl and job.recipe.grpo.verl and can_check():
        try:
            check_keys(job.recipe, job.gpus, job.nodes)
        except BadVerlKey as error:
            raise JudgeError(f"{recipe}: {error}") from None
    for note in notes(job):
        console.print(f"{job.name}: {note}", markup=False)
    for data in missing_data(job):
        console.print(f"{job.name}: {data} does not exist yet in {job.cluster.folder}", markup=False)
    if dry_run:
        print(text, end="")
        console.print(f"would be submitted with: {shlex.join(command(job, file))}", markup=False)
        return
    write_atomic(file, [text])
    print(f"{file} {send(job, file)}")


def _of_command(context: typer.Context, name: str, options: list[str], cluster: "Cluster") -> "Job":
    """The job of another command, whose options are checked as the command itself does.

    Raises:
        JudgeError: No other machine could reach what the job serves.
    """
    from judge_r1.core.endpoint import LOOPBACK
    from judge_r1.serving.address import check_host
    from judge_r1.training.launch.job import plan_command

    root: Any = context.find_root().command
    given = root.commands[name].make_context(name, list(options)).params
    if name == "serve":
        if given["host"] in LOOPBACK:
            raise JudgeError(
                f"on a cluster no other machine reaches --host {given['host']}: add --host 0.0.0.0 and --keys FILE, "
                "which `judge-r1 keys add NAME --file FILE` writes"
            )
        check_host(given["host"], given["keys"])
    return plan_command(name, options, cluster, given)
