"""Distributed training, one process per GPU: the place of this process among the others.

`judge-r1 train RECIPE --processes N` launches itself N times (`launcher`); torchrun works, too.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from judge_r1.core.errors import JudgeError
from judge_r1.training.preemption import Preempted

OURS = "judge-r1"
"""torch's run id of processes that `launcher` starts."""


def process_count() -> int:
    """The number of processes that train together; 1 outside a launcher."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def is_main() -> bool:
    """Whether this process writes the run's files."""
    return int(os.environ.get("RANK", "0")) == 0


def is_worker() -> bool:
    """Whether a launcher (ours, torchrun, accelerate) started this process as one of several."""
    return {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys()


def is_ours() -> bool:
    """Whether `launcher` started this process. The launcher then prints all messages."""
    return is_worker() and os.environ.get("TORCHELASTIC_RUN_ID") == OURS


def say(phase: str) -> None:
    """Print on standard error which slow work starts. Of several processes, only the first one prints."""
    if is_main():
        print(phase, file=sys.stderr, flush=True)


@contextmanager
def worker() -> Iterator[None]:
    """Wraps the work of one process: reports its error to the launcher, and exits when our launcher dies."""
    import torch
    from torch.distributed.elastic.multiprocessing.errors import get_error_handler

    if not is_worker():
        yield
        return
    if is_ours():
        threading.Thread(target=_die_with_parent, args=(os.getppid(),), daemon=True).start()
        if "OMP_NUM_THREADS" not in os.environ:
            torch.set_num_threads(max(1, (os.cpu_count() or 1) // int(os.environ["LOCAL_WORLD_SIZE"])))
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
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _die_with_parent(parent: int) -> None:
    """End this process soon after its launcher, which may have been killed."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
