"""Cancels work when the client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Receive

from judge_r1.core.event_loop import gather_all
from judge_r1.serving.errors import ClientDisconnected

T = TypeVar("T")


async def cancel_on_disconnect(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """Returns or raises what `work` does, and cancels it when the client disconnects. The body must have been read.

    Raises:
        ClientDisconnected
    """
    task, disconnected = asyncio.current_task(), False
    assert task is not None

    def cancel(_: object) -> None:
        nonlocal disconnected
        disconnected = True
        task.cancel()

    watcher = asyncio.ensure_future(wait_for_disconnect(request.receive))
    watcher.add_done_callback(cancel)
    try:
        return await work  # in this task: answers of concurrent requests do not wait for each other
    except asyncio.CancelledError:
        if not disconnected:
            raise
        raise ClientDisconnected("the client has disconnected") from None
    finally:
        # First this: a watcher that is cancelled calls its callback, too, which would cancel this task.
        watcher.remove_done_callback(cancel)
        watcher.cancel()


async def wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def gather_limited(works: list[Coroutine[Any, Any, T]], limit: int) -> list[T]:
    """The results in order, with at most `limit` running concurrently. The first error cancels the others."""
    slots = asyncio.Semaphore(limit)

    async def one(work: Coroutine[Any, Any, T]) -> T:
        async with slots:
            return await work

    try:
        return await gather_all([one(work) for work in works])
    finally:
        # After an error some have not begun, and Python warns of a coroutine that was never awaited.
        for work in works:
            work.close()
