"""Generates groups in several processes. This process yields them in the order of the items."""

import signal
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from judge_r1.core.errors import JudgeError

AHEAD = 3
"""Items in progress per process: the others can work while the first one is waited for."""
_generator: Generator[Any] | None = None
"""The generator of a process of the pool."""


def groups_by_processes(generator: Generator[Any], processes: int) -> Iterator[RecordGroup | None]:
    """The groups of a generator without teachers, in the order of its items. A group depends on its item alone, so the
    groups are those that one process would make.

    Raises: JudgeError if a process fails or ends early, with its error.
    """
    arguments = (type(generator), generator.plan)
    # Spawned: a fork copies the locks of this process's threads, and not the threads that free them.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), initializer=_start, initargs=arguments)
    waiting: deque[Future[Any]] = deque()
    try:
        for item in generator.items():
            waiting.append(pool.submit(_generate, item))
            if len(waiting) >= AHEAD * processes:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _result(group: Future[RecordGroup | None]) -> RecordGroup | None:
    try:
        return group.result()
    except BrokenProcessPool:
        raise JudgeError("a process of the build ended without a message: run the build again") from None
    except Exception as error:
        raise JudgeError(f"a process of the build failed: {error}") from error


def _start(made: type[Generator[Any]], plan: BuildPlan) -> None:
    global _generator
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the build, which ends its processes
    _generator = made(plan)


def _generate(item: Any) -> Any:
    assert _generator is not None
    return _generator.generate(item)
