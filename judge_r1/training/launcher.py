"""Launches the training processes of this machine with torch.distributed, alone or with those of other machines."""

import logging
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.training.distributed import STARTED_BY, VISIBLE_SECONDS
from judge_r1.training.network import interface_variables
from judge_r1.training.node_group import Node, NodeGroup
from judge_r1.training.preemption import Preempted, StopRequest, save_on_sigterm, signal_handlers
from judge_r1.training.run_folder import finished


class ProcessFailed(JudgeError):
    """A process of the run failed. The exit status invites another attempt unless the process ended with a user error
    (JudgeError's status)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.may_follow = status not in (JudgeError.exit_status, -signal.SIGKILL)
        """Whether the failure of a process on another node may have caused this one."""
        self.exit_status = JudgeError.exit_status if status == JudgeError.exit_status else TRY_AGAIN


def launch(folder: Path, processes: int, node: Node | None = None, *, expected: str | None = None) -> None:
    """Train the recipe of a run folder in `processes` processes on this machine and wait for them. With `node`, wait
    for the other nodes, whose launchers do the same. `expected` is the recipe that the first node must have written.

    If one process fails, or this process gets a signal or dies, all are stopped, on all nodes.

    Raises:
        ProcessFailed: Names the first failed process of this node and its reason.
        NodeFailed: Another node failed or is gone.
        JudgeError: This node does not see the recipe of the first one, or another one.
        Preempted: The run was asked to stop, and the processes have saved a checkpoint.
    """
    from torch.distributed.elastic.multiprocessing import SignalException

    def stop(signum: int, frame: FrameType | None) -> None:
        """Lets torch's launcher stop its processes, as on SIGINT."""
        raise SignalException(f"process {os.getpid()} received signal {signum}", sigval=signal.Signals(signum))

    request = StopRequest(folder)
    variables = {STARTED_BY: str(os.getpid()), "OMP_NUM_THREADS": str(_threads(processes))}
    variables |= interface_variables(node.host) if node else {}
    with (
        _environment(variables),
        # Before `save_on_sigterm`, which gives the second SIGTERM back to this handler.
        signal_handlers(stop, signal.SIGTERM, signal.SIGHUP),
        save_on_sigterm(request),
        NodeGroup(node) if node else nullcontext() as group,
    ):
        try:
            if expected is not None:
                _check_shared(folder / "recipe.yaml", expected)
            if group:
                group.barrier()
            _run_processes(folder, processes, group)
            preempted = group.agree(bool(request)) if group else bool(request)
        except BaseException as error:
            may_follow = isinstance(error, ProcessFailed) and error.may_follow
            if group and (failure := group.cause(wait=may_follow)):
                raise failure from None
            raise
    if preempted and not finished(folder):
        raise Preempted(folder)


def _check_shared(file: Path, expected: str) -> None:
    """Wait until this node sees the recipe that the first node has written."""
    until = time.monotonic() + VISIBLE_SECONDS
    while not (file.exists() and file.read_text(encoding="utf-8") == expected):
        if time.monotonic() > until:
            found = "has another recipe than this node" if file.exists() else "is not visible on this node"
            raise JudgeError(
                f"{file} of the first node {found}: give the same recipe and overrides on all nodes, and an --out on "
                "storage that they share"
            )
        time.sleep(0.5)


def _run_processes(folder: Path, processes: int, group: NodeGroup | None) -> None:
    from torch.distributed.elastic.multiprocessing import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import elastic_launch

    for module in ("agent.server.api", "multiprocessing.api"):  # the error below has what they report
        logging.getLogger(f"torch.distributed.elastic.{module}").setLevel(logging.CRITICAL)
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    command = ["-m", "judge_r1.cli", "train", str(folder / "recipe.yaml"), "--out", str(folder)]
    try:
        elastic_launch(_configuration(logs, processes, group), sys.executable)(*command)
    except ChildFailedError as error:
        stopped = -signal.SIGTERM  # exit code of processes that the launcher stopped
        # The first that failed by itself. The others fail because of it, or were stopped.
        rank, failure = min(error.failures.items(), key=lambda item: (item[1].exitcode == stopped, item[1].timestamp))
        total = processes * (group.node.count if group else 1)
        raise ProcessFailed(
            f"process {rank} of {total} {_reason(failure)} (output of the processes: {logs}); "
            "all are stopped; re-running the command resumes from the last checkpoint",
            failure.exitcode,
        ) from None
    except SignalException as error:
        if error.sigval == signal.SIGINT:
            raise KeyboardInterrupt from None
        sys.exit(128 + int(error.sigval))


def _configuration(logs: Path, processes: int, group: NodeGroup | None) -> Any:
    """torch's launch configuration: c10d on a free port of this machine, or a static rendezvous on the first node."""
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, Std
    from torch.distributed.launcher.api import LaunchConfig

    meeting: Mapping[str, Any] = {
        "run_id": f"{os.getpid()}-{time.time_ns()}",
        "rdzv_backend": "c10d",
        "rdzv_endpoint": "127.0.0.1:0",
        "local_addr": "127.0.0.1",
    }
    if group:
        meeting = {
            "run_id": "judge-r1",
            "rdzv_backend": "static",
            "rdzv_endpoint": f"{group.node.host}:{group.port}",
            "rdzv_configs": {"rank": group.node.rank},
        }
    count = group.node.count if group else 1
    return LaunchConfig(
        min_nodes=count,
        max_nodes=count,
        nproc_per_node=processes,
        max_restarts=0,
        monitor_interval=0.2,
        signals_to_handle="SIGINT,SIGHUP,SIGQUIT",  # SIGTERM: see `launch`
        logs_specs=DefaultLogsSpecs(str(logs), redirects=dict.fromkeys(range(1, processes), Std.ALL)),
        **meeting,
    )


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
