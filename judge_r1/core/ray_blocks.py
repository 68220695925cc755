"""Runs blocks of work on the nodes of a Ray cluster with Ray Data, and yields their results in order.

All nodes see the working directory under the same path and have the same packages. Ray runs the blocks of a lost node
again on the others. RAY_ADDRESS names the cluster (`auto` on one of its nodes); without it, Ray starts on this machine.
"""

import logging
import os
import pickle
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from judge_r1.core.errors import TRY_AGAIN, JudgeError

B = TypeVar("B")
R = TypeVar("R")
Work = Callable[[B], R]
LONGEST_BLOCK_S = 6 * 3600.0
"""Ray Data ends an execution in which no block ends for so long (its default is half an hour)."""


class RayFailed(JudgeError):
    """The cluster cannot be reached, or lost its workers."""

    exit_status = TRY_AGAIN


@dataclass(frozen=True)
class RayWorkers:
    """The number of workers that run blocks (None: one per processor, or per GPU), and whether each takes a GPU where
    the cluster has any."""

    count: int | None = None
    gpus: bool = False


def run_blocks(blocks: Sequence[B], make_work: Callable[[], Work[B, R]], workers: RayWorkers) -> Iterator[R]:
    """Yields `make_work()(block)` for each block, in order. Each worker calls `make_work` once. Blocks, results and
    `make_work` are pickled.

    Raises:
        RayFailed: The cluster cannot be used.
        JudgeError: A worker raised it.
        RuntimeError: A worker failed with an unexpected error, whose traceback is in the message.
    """
    if not blocks:
        return
    ray, data = _started()
    resources = ray.cluster_resources()
    gpus = int(resources.get("GPU", 0)) if workers.gpus else 0
    size = min(len(blocks), workers.count or gpus or max(1, int(resources.get("CPU", 1))))
    rows = [{"block": pickle.dumps(block)} for block in blocks]
    results = data.from_items(rows, override_num_blocks=len(rows)).map(
        _Worker,
        # As bytes: they are unpickled in `__call__`, whose errors are results; here they would be Ray's.
        fn_constructor_args=(pickle.dumps(make_work), str(Path.cwd())),
        compute=data.ActorPoolStrategy(min_size=1, max_size=size, initial_size=size),
        num_cpus=1,
        num_gpus=1 if gpus else None,
    )
    try:
        for row in results.iter_rows():
            yield _value(row)
    except ray.exceptions.RayError as error:
        raise RayFailed(f"the work on the Ray cluster ended: {_last_line(error)}; run the command again") from error


class _Worker:
    """Runs the blocks of one actor. Its errors are results, because Ray would retry it or hide them in a traceback."""

    def __init__(self, make_work: bytes, folder: str) -> None:
        self._make, self._folder = make_work, folder
        self._work: Work[Any, Any] | None = None

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        try:
            if self._work is None:
                self._enter()
                self._work = pickle.loads(self._make)()
            return {"result": pickle.dumps(self._work(pickle.loads(row["block"]))), "error": "", "bug": ""}
        except JudgeError as error:
            return {"result": b"", "error": str(error), "bug": ""}
        except Exception:
            return {"result": b"", "error": "", "bug": traceback.format_exc()}

    def _enter(self) -> None:
        try:
            os.chdir(self._folder)
        except OSError as error:
            raise JudgeError(
                f"node {os.uname().nodename} does not see {self._folder} ({error.strerror}): run the command in a "
                "folder that all nodes of the cluster share"
            ) from None


def _value(row: dict[str, Any]) -> Any:
    if row["error"]:
        raise JudgeError(row["error"])
    if row["bug"]:
        raise RuntimeError(f"a worker on the Ray cluster failed:\n{row['bug']}")
    return pickle.loads(row["result"])


def _started() -> tuple[Any, Any]:
    """`ray` and `ray.data`, connected. Ray Data's messages go to its log file alone."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise JudgeError(f"--engine ray needs Ray Data ({error}): pip install 'judge-r1[ray-data]'") from error
    if not ray.is_initialized():
        address = os.environ.get("RAY_ADDRESS") or "local"
        local: dict[str, Any] = {"include_dashboard": False} if address == "local" else {}
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's default lets every other process go first
        try:
            ray.init(address=address, logging_level="ERROR", log_to_driver=False, **local)
        except Exception as error:  # of many types, some bare
            raise RayFailed(f"the Ray cluster at {address} cannot be used: {_last_line(error)}") from error
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.execution_options.preserve_order = True  # results are matched to blocks by their place alone
    context.execution_no_progress_timeout_s = LONGEST_BLOCK_S
    logger = logging.getLogger("ray.data")
    logger.handlers = [handler for handler in logger.handlers if not isinstance(handler, logging.StreamHandler)]
    return ray, ray.data


def _last_line(error: Exception) -> str:
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
