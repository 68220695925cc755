"""The processes, nodes and GPUs of a run, and the checks before anything is trained or written."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import CASES_FILE, PAIRS_FILE
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import finished
from judge_r1.training.stage_graph import StageRun


@dataclass(frozen=True)
class Resources:
    """SFT and DPO run in `processes` on this machine (default: one per GPU). GRPO on verl runs on `nodes` of a Ray
    cluster with `gpus_per_node` each."""

    processes: int | None = None
    nodes: int = 1
    gpus_per_node: int | None = None

    def for_recipe(self, recipe: Recipe) -> "Resources":
        """The part of the resources that applies to one recipe of several."""
        return Resources(None, self.nodes, self.gpus_per_node) if recipe.stage == "grpo" else Resources(self.processes)

    @property
    def options(self) -> list[str]:
        """The resources as command-line options."""
        options = {"--processes": self.processes, "--gpus-per-node": self.gpus_per_node}
        if self.nodes > 1:
            options["--nodes"] = self.nodes
        return [word for option, value in options.items() if value is not None for word in (option, str(value))]


LOCAL = Resources()
"""This machine with all its GPUs."""


def check_resources(stages: Sequence[StageRun], resources: Resources) -> None:
    """Check options, resources and data of all stages before the first one starts or writes anything.

    Raises:
        JudgeError: A stage cannot run with these resources, or its data are missing.
    """
    name = stages[-1][0].name
    if (resources.nodes > 1 or resources.gpus_per_node) and not any(recipe.on_verl for recipe, _ in stages):
        raise JudgeError(f"recipe {name}: --nodes and --gpus-per-node are for grpo with grpo.engine=verl")
    if (resources.processes or 1) > 1 and all(recipe.stage == "grpo" for recipe, _ in stages):
        raise JudgeError(f"recipe {name}: --processes is for sft and dpo; GRPO on all GPUs is grpo.engine=verl")
    for recipe, folder in stages:
        if finished(folder):
            continue
        check_supported(recipe, resources if len(stages) == 1 else resources.for_recipe(recipe))
        check_verl_keys(recipe, resources)
        for part, data in (("train", recipe.data.train), ("dev", recipe.data.dev)):
            for name in (CASES_FILE, PAIRS_FILE):
                if data is not None and not (data / name).exists():
                    raise JudgeError(
                        f"recipe {recipe.name}: data.{part} {data} holds no {name}: build the pairs first, "
                        f"or give another folder as data.{part}=FOLDER"
                    )
    if resources.nodes > 1 and "RAY_ADDRESS" not in os.environ:
        raise JudgeError(
            f"{resources.nodes} nodes need a running Ray cluster, and RAY_ADDRESS is not set: "
            "start the run with `judge-r1 launch`, or set RAY_ADDRESS to the head's address"
        )


def check_supported(recipe: Recipe, resources: Resources) -> None:
    """Raises JudgeError if the recipe cannot be trained on these resources."""
    import torch

    from judge_r1.training.distributed import processes_for
    from judge_r1.training.verl.config import check_batches, training_gpus

    processes_for(recipe, resources.processes)
    if recipe.on_verl:
        gpus = resources.gpus_per_node or max(1, torch.cuda.device_count())
        check_batches(recipe, resources.nodes * training_gpus(recipe, gpus))
    elif resources.nodes > 1:
        raise JudgeError(f"recipe {recipe.name}: only grpo with grpo.engine verl trains on several nodes")
    elif resources.gpus_per_node is not None:
        raise JudgeError(f"recipe {recipe.name}: --gpus-per-node is for grpo with grpo.engine verl only")


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
