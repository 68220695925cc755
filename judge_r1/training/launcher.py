"""Starts the training processes of one machine with the API of torchrun (`torch.distributed.launcher.api`)."""

import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

from judge_r1.core.errors import TRY_AGAIN, JudgeError
from judge_r1.training.distributed import OURS


class ProcessFailed(JudgeError):
    """A process of the run failed. The exit status invites another attempt unless the process ended with a user error
    (JudgeError's status)."""

    def __init__(self, message: str, status: int = TRY_AGAIN) -> None:
        super().__init__(message)
        self.exit_status = JudgeError.exit_status if status == JudgeError.exit_status else TRY_AGAIN


def launch(folder: Path, processes: int, *, node: int = 0, nodes: int = 1, master: str = "") -> None:
    """Train the recipe of a run folder in `processes` processes on this machine and wait for them. If one fails, or
    this process gets a signal or dies, all are stopped. Those of several `nodes` meet at `master` (HOST:PORT).

    Raises:
        ProcessFailed: Names the first failed process of this node and its reason.
    """
    from torch.distributed.elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    for module in ("agent.server.api", "multiprocessing.api"):  # the error below has what they report
        logging.getLogger(f"torch.distributed.elastic.{module}").setLevel(logging.CRITICAL)
    logs = folder / "logs" / (f"node-{node}" if master else "")
    logs.mkdir(parents=True, exist_ok=True)
    config = LaunchConfig(
        min_nodes=nodes,
        max_nodes=nodes,
        nproc_per_node=processes,
        run_id=OURS,
        rdzv_backend="static" if master else "c10d",
        rdzv_endpoint=master or "127.0.0.1:0",
        rdzv_configs={"rank": node} if master else {},
        local_addr=None if master else "127.0.0.1",
        max_restarts=0,
        signals_to_handle="SIGINT,SIGHUP,SIGQUIT",  # SIGTERM asks for a checkpoint (`preemption`)
        # Without a master, the first process writes to the terminal.
        logs_specs=DefaultLogsSpecs(str(logs), redirects=dict.fromkeys(range(not master, processes), Std.ALL)),
    )
    command = ["-m", "judge_r1.cli", "train", str(folder / "recipe.yaml"), "--out", str(folder)]
    try:
        elastic_launch(config, sys.executable)(*command)
    except ChildFailedError as error:
        stopped = -signal.SIGTERM  # exit code of processes that the launcher stopped
        # The first that failed by itself. The others fail because of it, or were stopped.
        rank, failure = min(error.failures.items(), key=lambda item: (item[1].exitcode == stopped, item[1].timestamp))
        written = sorted(logs.glob(f"{OURS}_*/attempt_0/{failure.local_rank}/stderr.log"), key=os.path.getmtime)
        raise ProcessFailed(
            f"process {rank} of {processes * nodes} {_reason(failure)} (see {(written or [logs])[-1]}); "
            "all are stopped; re-running the command resumes from the last checkpoint",
            failure.exitcode,
        ) from None
    except SignalException as error:
        if error.sigval == signal.SIGINT:
            raise KeyboardInterrupt from None
        sys.exit(128 + int(error.sigval))


def _reason(failure: Any) -> str:
    """The reason of a failure in a few words."""
    if failure.exitcode < 0:
        return f"was killed by {signal.Signals(-failure.exitcode).name}"
    reported = failure.message
    text = reported.get("message", "") if isinstance(reported, dict) else str(reported)
    first = str(text).strip().split("\n")[0]
    kind, _, message = first.partition(": ")
    return f"failed: {message if kind.isidentifier() and message else first or f'exit status {failure.exitcode}'}"
