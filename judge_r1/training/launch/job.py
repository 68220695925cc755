"""A recipe on a cluster, before anybody's syntax: which machines it gets and which command runs there."""

import re
import shlex
from dataclasses import dataclass

from judge_r1.core.errors import JudgeError
from judge_r1.training.launch.cluster import Cluster
from judge_r1.training.recipe import Recipe, dump_recipe
from judge_r1.training.verl.config import check_batches

END_OF_RECIPE = "END_OF_RECIPE"


@dataclass(frozen=True)
class Job:
    """`nodes` machines with `gpus` GPUs each; `ray`: does training need a Ray across them? `arguments` are those of
    `judge-r1 train` behind the recipe; `note` says what of the cluster is left unused, and why."""

    recipe: Recipe
    cluster: Cluster
    nodes: int
    gpus: int
    ray: bool
    arguments: tuple[str, ...]
    note: str | None

    @property
    def name(self) -> str:
        """Of the job, in letters that each launcher takes."""
        return "judge-r1-" + re.sub(r"[^a-z0-9]+", "-", self.recipe.name.lower()).strip("-")[:40].strip("-")

    @property
    def recipe_file(self) -> str:
        """Where the job finds the resolved recipe, within the cluster's folder."""
        return f"launched/{self.name}.yaml"

    @property
    def recipe_text(self) -> str:
        return dump_recipe(self.recipe)

    @property
    def command(self) -> str:
        """What trains, run in the cluster's folder."""
        return shlex.join(["judge-r1", "train", self.recipe_file, *self.arguments])


def plan(recipe: Recipe, cluster: Cluster) -> Job:
    """The machines that a recipe can use of a cluster. Errors: JudgeError where its batches do not divide among them,
    or its text could not be sent."""
    if END_OF_RECIPE in dump_recipe(recipe):
        raise JudgeError(f"recipe {recipe.name} holds the word {END_OF_RECIPE}, which ends it in a job: take it out")
    nodes, gpus = cluster.nodes, cluster.gpus_per_node
    if recipe.on_verl:
        check_batches(recipe, nodes * gpus)
        arguments = ("--nodes", str(nodes), "--gpus-per-node", str(gpus))
        return Job(recipe, cluster, nodes, gpus, ray=True, arguments=arguments, note=None)
    if recipe.stage == "grpo":
        why = "grpo.engine trl trains in one process on one GPU; with grpo.engine=verl it takes all of them"
        note = f"asks for 1 GPU of {nodes} x {gpus}: {why}" if nodes * gpus > 1 else None
        return Job(recipe, cluster, 1, 1, ray=False, arguments=(), note=note)
    note = f"asks for 1 node of {nodes}: {recipe.stage} trains on one machine" if nodes > 1 else None
    processes = ("--processes", str(gpus)) if gpus > 1 else ()
    return Job(recipe, cluster, 1, gpus, ray=False, arguments=processes, note=note)
