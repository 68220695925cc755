"""The processes, nodes and GPUs of a run, and the checks before anything is trained or written."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge_r1.core.conversations import CONVERSATIONS_FILE, DOCUMENTS_FILE
from judge_r1.core.errors import JudgeError
from judge_r1.core.folders_below import lacks, name_below
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE
from judge_r1.core.transcripts import is_conversations
from judge_r1.models.hub import check_name
from judge_r1.models.pretrained import ModelUnavailable
from judge_r1.training.data.training_pairs import check_conversations
from judge_r1.training.node_group import Node
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import finished
from judge_r1.training.shipped_recipes import recipe_names
from judge_r1.training.stage_graph import StageRun


@dataclass(frozen=True)
class Resources:
    """`nodes` machines with `gpus_per_node` GPUs each.

    SFT and DPO run in `processes` on each machine (default: one per GPU). Several machines are those of the Ray cluster
    at RAY_ADDRESS, or of SFT and DPO those on which the command runs with `node_rank` 0, 1, … and the address of the
    first one in `master` (HOST:PORT)."""

    processes: int | None = None
    nodes: int = 1
    gpus_per_node: int | None = None
    node_rank: int | None = None
    master: str | None = None

    def for_recipe(self, recipe: Recipe) -> "Resources":
        """The part of the resources that applies to one recipe of several. SFT and DPO use one machine if their batches
        do not divide among all."""
        if recipe.stage == "grpo":
            return Resources(None, self.nodes, self.gpus_per_node)
        if self.nodes > 1 and why_one_node(recipe, self.nodes, self.per_node) is None:
            return self
        return Resources(self.processes)

    @property
    def per_node(self) -> int | None:
        """Processes of SFT and DPO on each machine, if given."""
        return self.processes or self.gpus_per_node

    @property
    def node(self) -> Node | None:
        """The place of this machine, if its rank is given.

        Raises:
            JudgeError: The address of the first machine is not HOST:PORT, or there is no such rank.
        """
        if self.node_rank is None and self.master is None:
            return None
        host, _, port = (self.master or "").rpartition(":")
        if self.node_rank is None or not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise JudgeError("--node-rank and --master HOST:PORT belong together: HOST is the machine of rank 0")
        if self.node_rank >= self.nodes:
            raise JudgeError(f"--node-rank {self.node_rank} of --nodes {self.nodes}: ranks begin at 0")
        return Node(self.node_rank, self.nodes, host, int(port))

    @property
    def options(self) -> list[str]:
        """The resources as command-line options."""
        options: dict[str, object] = {"--processes": self.processes, "--gpus-per-node": self.gpus_per_node}
        if self.nodes > 1:
            options |= {"--nodes": self.nodes, "--node-rank": self.node_rank, "--master": self.master}
        return [word for option, value in options.items() if value is not None for word in (option, str(value))]


LOCAL = Resources()
"""This machine with all its GPUs."""


def check_resources(stages: Sequence[StageRun], resources: Resources) -> None:
    """Check options, resources and data of all stages before the first one starts or writes anything.

    Raises:
        JudgeError: A stage cannot run with these resources, or its data are missing.
    """
    name = stages[-1][0].name
    if resources.node and any(recipe.stage == "grpo" for recipe, _ in stages):
        raise JudgeError(f"recipe {name}: --node-rank is for sft and dpo; GRPO on several nodes needs a Ray cluster")
    if resources.gpus_per_node and resources.nodes == 1 and not any(recipe.on_verl for recipe, _ in stages):
        raise JudgeError(f"recipe {name}: --gpus-per-node is for several nodes and for grpo with grpo.engine=verl")
    if (resources.processes or 1) > 1 and all(recipe.stage == "grpo" for recipe, _ in stages):
        raise JudgeError(f"recipe {name}: --processes is for sft and dpo; GRPO on all GPUs is grpo.engine=verl")
    for recipe, folder in stages:
        if finished(folder):
            continue
        if recipe.start is None:  # else an earlier stage writes the model
            _check_model(recipe)
        for part, data in (("train", recipe.data.train), ("dev", recipe.data.dev)):
            talks = data is not None and is_conversations(data)
            for name in (DOCUMENTS_FILE, CONVERSATIONS_FILE) if talks else (CASES_FILE, PAIRS_FILE):
                if data is not None and not (data / name).exists():
                    without = ", or train without evaluation by data.dev=null" if part == "dev" else ""
                    raise JudgeError(
                        f"recipe {recipe.name}: data.{part} {lacks(data, name)}: build the pairs first, "
                        f"or give another folder as data.{part}=FOLDER{without}{name_below(data, name)}"
                    )
        check_conversations(recipe)
        check_supported(recipe, resources if len(stages) == 1 else resources.for_recipe(recipe))
        check_verl_keys(recipe, resources)
    if resources.nodes > 1 and not resources.node and "RAY_ADDRESS" not in os.environ:
        raise JudgeError(
            f"{resources.nodes} nodes need a running Ray cluster, and RAY_ADDRESS is not set: "
            "start the run with `judge-r1 launch`, or set RAY_ADDRESS to the head's address; for sft and dpo you can "
            "also run the command on every node with --node-rank and --master"
        )


def _check_model(recipe: Recipe) -> None:
    """Raises JudgeError if there is no such model. For that of a shipped recipe, the message names the command."""
    try:
        check_name(recipe.model)
    except ModelUnavailable:
        folder = Path(recipe.model)
        name = "/".join(folder.parts[1:-1])
        if folder.exists() or folder != Path("runs", name, "model") or name not in recipe_names():
            raise
        raise JudgeError(
            f"recipe {recipe.name}: its model {folder} does not exist: make it with `judge-r1 train {name} "
            f"--out {folder.parent}`, or give another as model=MODEL"
        ) from None


def check_supported(recipe: Recipe, resources: Resources) -> None:
    """Raises JudgeError if the recipe cannot be trained on these resources."""
    from judge_r1.training.distributed import processes_for, say

    if "torch" not in sys.modules:
        say("loading torch")
    import torch

    from judge_r1.training.verl.config import check_batches

    if resources.nodes > 1 and recipe.stage == "grpo" and not recipe.on_verl:
        raise JudgeError(
            f"recipe {recipe.name}: grpo.engine trl trains on one GPU; grpo.engine=verl uses several nodes"
        )
    processes_for(recipe, resources.per_node if resources.nodes > 1 and not recipe.on_verl else resources.processes)
    if recipe.on_verl:
        gpus = resources.gpus_per_node or max(1, torch.cuda.device_count())
        check_batches(recipe, resources.nodes * gpus)
    elif resources.nodes > 1:
        if why := why_one_node(recipe, resources.nodes, resources.per_node):
            raise JudgeError(f"recipe {recipe.name}: {why}")
    elif resources.gpus_per_node is not None:
        raise JudgeError(f"recipe {recipe.name}: --gpus-per-node is for grpo with grpo.engine verl only")


def why_one_node(recipe: Recipe, nodes: int, per_node: int | None) -> str | None:
    """Why SFT or DPO cannot train on all of `nodes` machines with `per_node` processes each (default: one per GPU of
    this machine); None if it can."""
    import torch

    from judge_r1.training.trl.common import accumulation

    try:
        part = recipe.sft if recipe.stage == "sft" else recipe.dpo
        accumulation(recipe.stage, part, nodes * (per_node or max(1, torch.cuda.device_count())))
    except JudgeError as error:
        return str(error)
    return None


def check_verl_keys(recipe: Recipe, resources: Resources, gpus_per_node: int | None = None) -> None:
    """Check the keys in `grpo.verl` with verl itself, on `gpus_per_node` GPUs instead of those of this machine.

    Raises:
        JudgeError: A key is unknown, or verl refuses the configuration.
    """
    import torch

    from judge_r1.training.verl.check_keys import check_keys

    if recipe.on_verl:
        gpus = gpus_per_node or resources.gpus_per_node or max(1, torch.cuda.device_count())
        here = gpus_per_node is None and resources.nodes == 1 and not torch.cuda.is_available()
        check_keys(recipe, cpu=here, gpus=gpus, nodes=resources.nodes)
