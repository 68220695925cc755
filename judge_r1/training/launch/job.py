"""A job on a cluster, independent of the launcher: its machines and its command."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.models.vllm_server import OPTIONS as VLLM_OPTIONS
from judge_r1.training.launch.cluster import Cluster
from judge_r1.training.recipe import Recipe, dump_recipe
from judge_r1.training.stage_graph import stage_runs
from judge_r1.training.trl.common import micro_batch
from judge_r1.training.verl.config import check_batches

COMMANDS = ("index", "eval", "serve")
"""The commands that `launch` starts beside `train`."""
END_OF_RECIPE = "END_OF_RECIPE"
NAME_LENGTH = 47
"""KubeRay's limit for a RayJob: 63 characters of a Kubernetes name, less those that it appends."""
DIGITS = 8
"""Length of the hash in a job's name."""


@dataclass(frozen=True)
class Job:
    """A `judge-r1` command on `nodes` machines with `gpus` GPUs each.

    `title` tells jobs apart: of two with one title, only one runs. `words`: the command, without `judge-r1`. `recipe`:
    what it trains, else None. `ray`: whether it needs a Ray cluster across the machines. `note`: the unused part of the
    cluster, and the reason. `port`: where the job serves."""

    title: str
    cluster: Cluster
    nodes: int
    gpus: int
    words: tuple[str, ...]
    ray: bool = False
    recipe: Recipe | None = None
    note: str | None = None
    port: int | None = None

    @property
    def name(self) -> str:
        """The job's name, in characters that every launcher accepts. Its hash tells apart titles that differ only in
        other characters, in case or behind the limit."""
        return job_name(self.title)

    @property
    def recipe_file(self) -> str:
        """The path of the resolved recipe in the cluster's folder."""
        return f"launched/{self.name}.yaml"

    @property
    def stop_file(self) -> str:
        """The file in the cluster's folder that asks the training to save and end (see `training.preemption`)."""
        return f"launched/{self.name}.stop"

    @property
    def recipe_text(self) -> str | None:
        return dump_recipe(self.recipe) if self.recipe else None

    @property
    def command(self) -> str:
        """The command, which runs in the cluster's folder."""
        return shlex.join(["judge-r1", *self.words])

    @property
    def resumes(self) -> str:
        """What the command does when it runs again."""
        return "resumes from the last checkpoint" if self.recipe else "continues"

    @property
    def variables(self) -> dict[str, str]:
        """The public variables of the job. A server that the job starts uses all its GPUs, one copy of the model on
        each."""
        copies = {VLLM_OPTIONS: f"--data-parallel-size {self.gpus}"} if not self.recipe and self.gpus > 1 else {}
        set_here = self.cluster.variables
        return {**{name: value for name, value in copies.items() if name not in self.cluster.env}, **set_here}


def job_name(title: str) -> str:
    """The name of the job of a title (`Job.name`)."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    named = words if f"{words}-".startswith("judge-r1-") else f"judge-r1-{words}"
    shown = named[: NAME_LENGTH - DIGITS - 1].rstrip("-")
    return f"{shown}-{sha256(title.encode()).hexdigest()[:DIGITS]}"


def missing_data(job: Job) -> list[str]:
    """The data of all stages that the cluster's folder lacks; none if this machine does not see the folder."""
    root = Path(job.cluster.folder)
    if job.recipe is None or not root.is_dir():
        return []
    runs = stage_runs(job.recipe, root / "runs" / job.recipe.name)
    data = [path for stage, _ in runs for path in (stage.data.train, stage.data.dev) if path]
    return [str(path) for path in dict.fromkeys(data) if not (root / path).exists()]


def plan(recipe: Recipe, cluster: Cluster) -> Job:
    """Plan a recipe on the machines of a cluster that it can use.

    Raises:
        JudgeError: The batches do not divide among the GPUs, or the recipe contains the end marker of the job script.
    """
    if END_OF_RECIPE in dump_recipe(recipe):
        raise JudgeError(
            f"recipe {recipe.name} contains {END_OF_RECIPE}, the end marker of recipes in job scripts: remove it"
        )
    nodes, gpus = cluster.nodes, cluster.gpus_per_node
    words = ("train", f"launched/{job_name(recipe.name)}.yaml")

    def job(nodes: int, gpus: int, *options: str, ray: bool = False, note: str | None = None) -> Job:
        return Job(recipe.name, cluster, nodes, gpus, (*words, *options), ray=ray, recipe=recipe, note=note)

    if recipe.stage == "grpo" and not recipe.on_verl:
        why = "grpo.engine trl trains in one process on one GPU; grpo.engine=verl uses all of them"
        return job(1, 1, note=_unused(1, cluster, why))
    for stage, _ in stage_runs(recipe, Path(recipe.name)):
        if stage.stage != "grpo":
            micro_batch(stage, nodes * gpus)
    if recipe.on_verl:
        check_batches(recipe, nodes * gpus)
    if recipe.on_verl or nodes > 1:
        return job(nodes, gpus, "--nodes", str(nodes), "--gpus-per-node", str(gpus), ray=True)
    return job(1, gpus, *(("--processes", str(gpus)) if gpus > 1 else ()))


def plan_command(name: str, options: Sequence[str], cluster: Cluster, given: Mapping[str, Any]) -> Job:
    """Plan one of `COMMANDS` on one machine of a cluster. `given` are the values of its options."""
    gpus, words = 1 if name == "index" else cluster.gpus_per_node, (name, *options)
    if name == "eval" and not given["resume"]:
        words = (*words, "--resume")  # after a failure, the answers that there are stay
    note = _unused(gpus, cluster, f"{name} runs on one machine" if gpus > 1 else f"{name} uses one")
    return Job(shlex.join(words), cluster, 1, gpus, words, note=note, port=given.get("port"))


def _unused(gpus: int, cluster: Cluster, why: str) -> str | None:
    asked = f"{gpus} GPU{'s' if gpus > 1 else ''} of {cluster.nodes} x {cluster.gpus_per_node}"
    return f"asks for {asked}: {why}" if cluster.nodes * cluster.gpus_per_node > gpus else None
