"""Runs a coroutine from synchronous code, also inside a running event loop."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

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
    with ThreadPoolExecutor(1, "run-sync") as pool:
        return pool.submit(copy_context().run, asyncio.run, work).result()
