"""The processes, nodes and GPUs of a run, and the checks before anything is trained or written."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted
from judge_r1.training.data.training_pairs import check_folders
from judge_r1.training.distributed import is_worker, process_count, say
from judge_r1.training.recipe import Recipe
from judge_r1.training.run_folder import finished
from judge_r1.training.stage_graph import StageRun, check_model


@dataclass(frozen=True)
class Resources:
    """`nodes` machines of the Ray cluster at RAY_ADDRESS, or this one, with `gpus_per_node` GPUs each. SFT and DPO run
    in `processes` on each machine (default: one per GPU)."""

    processes: int | None = None
    nodes: int = 1
    gpus_per_node: int | None = None

    @property
    def gpus(self) -> int:
        """GPUs of each machine; 1 without any."""
        import torch

        return self.gpus_per_node or max(1, torch.cuda.device_count())

    @property
    def options(self) -> list[str]:
        """The resources as command-line options."""
        given = {"--processes": self.processes, "--gpus-per-node": self.gpus_per_node}
        given |= {"--nodes": self.nodes} if self.nodes > 1 else {}
        return [word for option, value in given.items() if value is not None for word in (option, str(value))]

    def processes_for(self, recipe: Recipe) -> int:
        """The processes of SFT or DPO on each machine. GRPO starts in one.

        Raises:
            JudgeError: The batches do not divide among them, or a launcher or this machine has another number.
        """
        import torch

        from judge_r1.training.trl.common import micro_batch

        launched, here = process_count() if is_worker() else None, torch.cuda.device_count()
        if recipe.stage == "grpo":
            if (launched or 1) > 1:
                raise JudgeError("torchrun is for sft and dpo: GRPO starts as one process, also with grpo.engine=verl")
            return 1
        if launched and self.processes not in (None, launched):
            raise JudgeError(f"--processes {self.processes} within a launcher of {launched}: remove the option")
        count = launched or self.processes or (self.gpus if self.nodes > 1 else max(1, here))
        if self.nodes == 1 and not launched and 0 < here < count:
            raise JudgeError(f"--processes {count}: this machine has {counted(here, 'GPU')}, and each needs one")
        micro_batch(recipe, self.nodes * count)
        return count


LOCAL = Resources()
"""This machine with all its GPUs."""


def check_resources(stages: Sequence[StageRun], resources: Resources) -> None:
    """Check options, resources and data of all stages before the first one starts or writes anything.

    Raises:
        JudgeError: A stage cannot run with these resources, or its data are missing.
    """
    from judge_r1.training.verl.check_keys import check_keys

    if resources.nodes > 1 and "RAY_ADDRESS" not in os.environ:
        raise JudgeError(
            f"{resources.nodes} nodes need a running Ray cluster, and RAY_ADDRESS is not set: start the run with "
            "`judge-r1 launch`, or set RAY_ADDRESS to the head's address; torchrun starts sft and dpo without Ray"
        )
    todo = [recipe for recipe, folder in stages if not finished(folder)]
    for recipe in todo:
        if recipe.start is None:  # else an earlier stage writes the model
            check_model(recipe)
        check_folders(recipe)
    check_supported(stages, resources)
    for recipe in todo:
        if recipe.on_verl:
            check_keys(recipe, resources.gpus, resources.nodes)


def check_supported(stages: Sequence[StageRun], resources: Resources) -> None:
    """Raises JudgeError if an unfinished stage cannot be trained on these resources."""
    from judge_r1.training.verl.config import check_batches

    if "torch" not in sys.modules:
        say("loading torch")
    recipes, name = [recipe for recipe, _ in stages], f"recipe {stages[-1][0].name}"
    if resources.gpus_per_node and resources.nodes == 1 and not any(recipe.on_verl for recipe in recipes):
        raise JudgeError(f"{name}: --gpus-per-node is for several nodes and for grpo with grpo.engine=verl")
    if (resources.processes or 1) > 1 and all(recipe.stage == "grpo" for recipe in recipes):
        raise JudgeError(f"{name}: --processes is for sft and dpo; GRPO on all GPUs is grpo.engine=verl")
    for recipe in [recipe for recipe, folder in stages if not finished(folder)]:
        resources.processes_for(recipe)
        if recipe.on_verl:
            check_batches(recipe, resources.nodes * resources.gpus)
        elif recipe.stage == "grpo" and resources.nodes > 1:
            raise JudgeError(f"recipe {recipe.name}: grpo.engine trl trains on one GPU; verl uses several nodes")
