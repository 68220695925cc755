"""Distributed training, one process per GPU: identifies this process, and launches the others.

`judge-r1 train RECIPE --processes N` launches itself N times with torch.distributed; torchrun works, too.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.training.preemption import Preempted, StopRequest, save_on_sigterm
from judge_r1.training.recipe import Recipe

_STARTED = "JUDGE_R1_STARTED_BY"
"""Environment variable of launched processes: the process id of our launcher."""


class ProcessFailed(JudgeError):
    """A process of the run failed. The exit status invites another attempt unless the process ended with a user error
    (JudgeError's status)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.exit_status = JudgeError.exit_status if status == JudgeError.exit_status else TRY_AGAIN


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
    """Whether `launch` started this process. The launcher then prints all messages."""
    return _STARTED in os.environ and is_worker()


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
                f"--processes {wanted} within a launcher of {process_count()} processes: remove the option"
            )
        count = process_count()
    else:
        count = wanted or (max(1, torch.cuda.device_count()) if several else 1)
    if count > 1 and not several:
        raise JudgeError("GRPO on the engine trl trains in one process: use --processes 1, or grpo.engine=verl")
    if torch.cuda.is_available() and count > torch.cuda.device_count() and not is_worker():
        raise JudgeError(
            f"--processes {count}: this machine has {torch.cuda.device_count()} GPU(s), and each process needs one"
        )
    return count


def needs_launch(recipe: Recipe, processes: int) -> bool:
    """Whether this process must launch the training processes. False if it is one of them."""
    import torch

    if is_worker() or recipe.stage == "grpo":
        return False
    return processes > 1 or recipe.deepspeed is not None or torch.cuda.device_count() > 1


def launch(folder: Path, processes: int) -> None:
    """Train the recipe of a run folder in `processes` processes and wait for them.

    If one process fails, or this process gets a signal or dies, all are stopped.

    Raises:
        ProcessFailed: Names the first failed process and its reason.
        Preempted: The run was asked to stop, and the processes have saved a checkpoint.
    """
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    for module in ("agent.server.api", "multiprocessing.api"):  # the error below has what they report
        logging.getLogger(f"torch.distributed.elastic.{module}").setLevel(logging.CRITICAL)
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        run_id=f"{os.getpid()}-{time.time_ns()}",
        rdzv_backend="c10d",
        rdzv_endpoint="127.0.0.1:0",
        local_addr="127.0.0.1",
        max_restarts=0,
        monitor_interval=0.2,
        signals_to_handle="SIGINT,SIGHUP,SIGQUIT",  # SIGTERM: below
        logs_specs=DefaultLogsSpecs(str(logs), redirects=dict.fromkeys(range(1, processes), Std.ALL)),
    )
    command = ["-m", "judge_r1.cli", "train", str(folder / "recipe.yaml"), "--out", str(folder)]
    request = StopRequest(folder)
    with (
        _environment({_STARTED: str(os.getpid()), "OMP_NUM_THREADS": str(_threads(processes))}),
        _stop_processes_on_sigterm(),
        save_on_sigterm(request),
    ):
        try:
            elastic_launch(config, sys.executable)(*command)
        except ChildFailedError as error:
            stopped = -signal.SIGTERM  # exit code of processes that the launcher stopped
            rank, failure = min(
                error.failures.items(), key=lambda item: (item[1].exitcode == stopped, item[1].timestamp)
            )
            raise ProcessFailed(
                f"process {rank} of {processes} {_reason(failure)} (output of the processes: {logs}); "
                "all are stopped; re-running the command resumes from the last checkpoint",
                failure.exitcode,
            ) from None
        except SignalException as error:
            if error.sigval == signal.SIGINT:
                raise KeyboardInterrupt from None
            sys.exit(128 + int(error.sigval))
    if request:
        raise Preempted(folder)


@contextmanager
def _stop_processes_on_sigterm() -> Iterator[None]:
    """Lets torch's launcher stop its processes on SIGTERM, as on other signals."""
    from torch.distributed.elastic.multiprocessing import SignalException

    def stop(signum: int, frame: FrameType | None) -> None:
        raise SignalException(f"process {os.getpid()} received signal {signum}", sigval=signal.Signals(signum))

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def worker() -> Iterator[None]:
    """Wraps the work of one process: reports its error to the launcher, and exits when our launcher dies."""
    from torch.distributed.elastic.multiprocessing.errors import get_error_handler

    if not is_worker():
        yield
        return
    if is_ours():
        threading.Thread(target=_die_with, args=(os.getppid(),), daemon=True).start()
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


def _die_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def _leave_group() -> None:
    import torch

    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _reason(failure: Any) -> str:
    """The reason of a failure in a few words."""
    if failure.exitcode < 0:
        return f"was killed by {signal.Signals(-failure.exitcode).name}"
    reported = failure.message
    text = reported.get("message", "") if isinstance(reported, dict) else str(reported)
    first = str(text).strip().split("\n")[0]
    kind, _, message = first.partition(": ")
    return f"failed: {message if kind.isidentifier() and message else first or f'exit status {failure.exitcode}'}"


def _threads(processes: int) -> int:
    """Threads per process, so that all processes together use each core once."""
    return int(os.environ.get("OMP_NUM_THREADS", max(1, (os.cpu_count() or 1) // processes)))


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {key: os.environ.get(key) for key in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                del os.environ[key]
            else:
                os.environ[key] = value
