"""Distributed training, one process per GPU: the place of this process among the others.

`judge-r1 train RECIPE --processes N` launches itself N times (`launcher`); torchrun works, too.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.core.text_check import counted
from judge_r1.training.preemption import Preempted
from judge_r1.training.recipe import Recipe

STARTED_BY, PLACED_BY = "JUDGE_R1_STARTED_BY", "JUDGE_R1_PLACED_BY"
"""Environment variables: in launched processes the process id of our launcher, and in launchers that a run on a Ray
cluster started, the folder of the run."""

VISIBLE_SECONDS = 90.0
"""How long a new file may take to appear on other machines (NFS caches directory listings for a minute)."""


def process_count() -> int:
    """The number of processes that train together; 1 outside a launcher."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main() -> bool:
    """Whether this process writes the run's files."""
    return int(os.environ.get("RANK", "0")) == 0


def say(phase: str) -> None:
    """Print on standard error which slow work starts. Of several processes, only the first one prints."""
    if is_main():
        print(phase, file=sys.stderr, flush=True)


def is_worker() -> bool:
    """Whether a launcher (ours, torchrun, accelerate) started this process as one of several."""
    return {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys()


def is_ours() -> bool:
    """Whether `launch` started this process. The launcher then prints all messages."""
    return STARTED_BY in os.environ and is_worker()


def is_placed() -> bool:
    """Whether a run on a Ray cluster started this process on one of its nodes (`ray_launcher`). That run holds the run
    folder's lock."""
    return PLACED_BY in os.environ and not is_worker()


def processes_for(recipe: Recipe, wanted: int | None) -> int:
    """The number of processes that train a recipe: `wanted`, else one per GPU, at least one.

    Raises:
        JudgeError: The recipe's engine cannot train in that many processes.
    """
    import torch

    several = recipe.stage != "grpo"
    if recipe.on_verl and (wanted is not None or process_count() > 1):
        raise JudgeError("--processes is for sft and dpo, like torchrun: verl uses all GPUs of the machine")
    if is_worker():
        if wanted not in (None, process_count()):
            raise JudgeError(
                f"--processes {wanted} within a launcher of {counted(process_count(), 'process')}: remove the option"
            )
        count = process_count()
    else:
        count = wanted or (max(1, torch.cuda.device_count()) if several else 1)
    if count > 1 and not several:
        raise JudgeError("GRPO on the engine trl trains in one process: use --processes 1, or grpo.engine=verl")
    if torch.cuda.is_available() and count > torch.cuda.device_count() and not is_worker():
        raise JudgeError(
            f"--processes {count}: this machine has {counted(torch.cuda.device_count(), 'GPU')}, and each process "
            "needs one"
        )
    return count


def needs_launch(recipe: Recipe, processes: int) -> bool:
    """Whether this process must launch the training processes. False if it is one of them."""
    import torch

    if is_worker() or recipe.stage == "grpo":
        return False
    return processes > 1 or recipe.deepspeed is not None or torch.cuda.device_count() > 1


@contextmanager
def worker() -> Iterator[None]:
    """Wraps the work of one process: reports its error to the launcher, and exits when our launcher dies."""
    from torch.distributed.elastic.multiprocessing.errors import get_error_handler

    if not is_worker():
        yield
        return
    if is_ours():
        die_with_parent()
    handler: Any = get_error_handler()
    handler.initialize()
    try:
        yield
    except Preempted:
        if not is_ours():
            raise  # our launcher knows of the request; other processes may still be saving, so none may fail
    except Exception as error:
        handler.record_exception(error)
        if isinstance(error, JudgeError) and is_ours():
            sys.exit(JudgeError.exit_status)  # the launcher prints the message
        raise
    _leave_group()


def die_with_parent() -> None:
    """Ends this process soon after its parent, which may have been killed."""

    def watch(parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()


def await_files(*files: Path) -> None:
    """Wait until this machine sees files that processes of other machines have written, up to `VISIBLE_SECONDS`."""
    until = time.monotonic() + VISIBLE_SECONDS
    while not all(file.exists() for file in files) and time.monotonic() < until:
        time.sleep(0.2)


def _leave_group() -> None:
    import torch

    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
