"""A training job on a cluster, independent of the launcher: its machines and its command."""

import re
import shlex
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.cluster import Cluster
from judge_r1.training.recipe import Recipe, dump_recipe
from judge_r1.training.stage_graph import stage_runs
from judge_r1.training.trl.common import micro_batch
from judge_r1.training.verl.config import check_batches

END_OF_RECIPE = "END_OF_RECIPE"
NAME_LENGTH = 47
"""KubeRay's limit for a RayJob: 63 characters of a Kubernetes name, less those that it appends."""
DIGITS = 8
"""Length of the hash in a job's name."""


@dataclass(frozen=True)
class Job:
    """A job on `nodes` machines with `gpus` GPUs each.

    `ray`: whether training needs a Ray cluster across them. `arguments`: options of `judge-r1 train`. `note`: the
    unused part of the cluster, and the reason."""

    recipe: Recipe
    cluster: Cluster
    nodes: int
    gpus: int
    ray: bool
    arguments: tuple[str, ...]
    note: str | None

    @property
    def name(self) -> str:
        """The job's name, in characters that every launcher accepts. Its hash tells apart recipes whose names differ
        only in other characters, in case or behind the limit."""
        words = re.sub(r"[^a-z0-9]+", "-", self.recipe.name.lower()).strip("-")
        named = words if f"{words}-".startswith("judge-r1-") else f"judge-r1-{words}"
        shown = named[: NAME_LENGTH - DIGITS - 1].rstrip("-")
        return f"{shown}-{sha256(self.recipe.name.encode()).hexdigest()[:DIGITS]}"

    @property
    def recipe_file(self) -> str:
        """The path of the resolved recipe in the cluster's folder."""
        return f"launched/{self.name}.yaml"

    @property
    def stop_file(self) -> str:
        """The file in the cluster's folder that asks the training to save and end (see `training.preemption`)."""
        return f"launched/{self.name}.stop"

    @property
    def recipe_text(self) -> str:
        return dump_recipe(self.recipe)

    @property
    def command(self) -> str:
        """The training command, which runs in the cluster's folder."""
        return shlex.join(["judge-r1", "train", self.recipe_file, *self.arguments])


def missing_data(job: Job) -> list[str]:
    """The data of all stages that the cluster's folder lacks; none if this machine does not see the folder."""
    root = Path(job.cluster.folder)
    if not root.is_dir():
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
    on_nodes = ("--nodes", str(nodes), "--gpus-per-node", str(gpus))
    if recipe.stage == "grpo" and not recipe.on_verl:
        why = "grpo.engine trl trains in one process on one GPU; grpo.engine=verl uses all of them"
        note = f"asks for 1 GPU of {nodes} x {gpus}: {why}" if nodes * gpus > 1 else None
        return Job(recipe, cluster, 1, 1, ray=False, arguments=(), note=note)
    for stage, _ in stage_runs(recipe, Path(recipe.name)):
        if stage.stage != "grpo":
            micro_batch(stage, nodes * gpus)
    if recipe.on_verl:
        check_batches(recipe, nodes * gpus)
    if recipe.on_verl or nodes > 1:
        return Job(recipe, cluster, nodes, gpus, ray=True, arguments=on_nodes, note=None)
    processes = ("--processes", str(gpus)) if gpus > 1 else ()
    return Job(recipe, cluster, 1, gpus, ray=False, arguments=processes, note=None)
