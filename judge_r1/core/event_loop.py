"""Runs coroutines from synchronous code, together, and in a loop of their own."""

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from judge_r1.core.errors import JudgeError

T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` to its end and returns its result.

    `asyncio.run` is not allowed inside a running event loop (Jupyter). There, `work` runs in a worker thread with its
    own loop, and the caller's loop is blocked until `work` ends.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    # With the caller's context variables, which hold the listener of an episode.
    with ThreadPoolExecutor(1, "run-sync") as pool:
        return pool.submit(copy_context().run, asyncio.run, work).result()


async def gather_all(works: Sequence[Awaitable[T]]) -> list[T]:
    """The results in order. The first error cancels the others, and is raised after they have ended."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class LostInFork(JudgeError):
    """Work for a loop whose thread is in the process that this one was forked from."""


class BackgroundLoop:
    """An event loop in a thread of its own. Connections and locks belong to a loop, so code that is called from several
    loops, or from none, runs its work here."""

    def __init__(self, name: str) -> None:
        self._name, self._process = name, os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()
        atexit.register(self.close)  # what runs here may hold connections, which close with the loop

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs `work` in the loop. Cancels it if the caller is cancelled. Raises: LostInFork."""
        return await asyncio.wrap_future(self._submitted(work))

    def run_sync(self, work: Coroutine[Any, Any, T]) -> T:
        """As `run`, from synchronous code."""
        return self._submitted(work).result()

    def _submitted(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        if self._process != os.getpid():  # a fork copies no threads: the work would wait forever
            work.close()
            raise LostInFork(
                f"{self._name} was opened in another process, and a forked process has no copy of its thread: open it "
                "in this process, or start workers with `spawn`"
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Ends the loop and closes what its work holds. In a forked process, where it does not run, nothing."""
        atexit.unregister(self.close)
        if self._process != os.getpid():
            return
        self.run_sync(self._loop.shutdown_asyncgens())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
