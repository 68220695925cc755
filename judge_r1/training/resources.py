"""Where a run takes place, and what can be refused before anything is trained or written."""

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
    """SFT and DPO run in `processes` of this machine, one for each GPU by default; GRPO on verl on `nodes` of a Ray
    with `gpus_per_node` each."""

    processes: int | None = None
    nodes: int = 1
    gpus_per_node: int | None = None

    def for_recipe(self, recipe: Recipe) -> "Resources":
        """What of it is meant for a recipe, of several that run one after the other."""
        return Resources(None, self.nodes, self.gpus_per_node) if recipe.stage == "grpo" else Resources(self.processes)

    @property
    def options(self) -> list[str]:
        """Its options on the command line."""
        options = {"--processes": self.processes, "--gpus-per-node": self.gpus_per_node}
        if self.nodes > 1:
            options["--nodes"] = self.nodes
        return [word for option, value in options.items() if value is not None for word in (option, str(value))]


LOCAL = Resources()
"""This machine, with all of its GPUs."""


def check_resources(chain: Sequence[StageRun], place: Resources) -> None:
    """Everything that a chain needs from outside is there: so that a warm-up of hours is not followed by an error that
    could be seen before it, and a command that was refused leaves no run folder. Errors: JudgeError."""
    name = chain[-1][0].name
    if (place.nodes > 1 or place.gpus_per_node) and not any(recipe.on_verl for recipe, _ in chain):
        raise JudgeError(f"recipe {name}: --nodes and --gpus-per-node are for grpo with grpo.engine=verl")
    if (place.processes or 1) > 1 and all(recipe.stage == "grpo" for recipe, _ in chain):
        raise JudgeError(f"recipe {name}: --processes is for sft and dpo; GRPO on all GPUs is grpo.engine=verl")
    for recipe, folder in chain:
        if finished(folder):
            continue
        check_supported(recipe, place if len(chain) == 1 else place.for_recipe(recipe))
        for name in (CASES_FILE, PAIRS_FILE):
            if not (recipe.data.train / name).exists():
                raise JudgeError(
                    f"recipe {recipe.name}: data.train {recipe.data.train} holds no {name}: build the pairs first, "
                    "or give another folder as data.train=FOLDER"
                )
    if place.nodes > 1 and "RAY_ADDRESS" not in os.environ:
        raise JudgeError(
            f"{place.nodes} nodes need a Ray that runs on all of them, and RAY_ADDRESS is not set: "
            "start the run with `judge-r1 launch`, or set RAY_ADDRESS to the head's address"
        )


def check_supported(recipe: Recipe, place: Resources) -> None:
    """The recipe can be trained in that place. Errors: JudgeError."""
    import torch

    from judge_r1.training.distributed import processes_for
    from judge_r1.training.verl.config import check_batches

    processes_for(recipe, place.processes)
    if recipe.on_verl:
        check_batches(recipe, place.nodes * (place.gpus_per_node or max(1, torch.cuda.device_count())))
    elif place.nodes > 1:
        raise JudgeError(f"recipe {recipe.name}: only grpo with grpo.engine verl trains on several nodes")
    elif place.gpus_per_node is not None:
        raise JudgeError(f"recipe {recipe.name}: --gpus-per-node is for grpo with grpo.engine verl only")
