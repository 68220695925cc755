"""Clients that leave: what is done for them ends with them."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.types import Receive

from judge_r1.serving.errors import ClientLeft

T = TypeVar("T")


async def while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises; cancelled as soon as the client is gone. The body must have been read. Errors:
    ClientLeft."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(left(request.receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)  # games have their deadlines
        if not task.done():
            raise ClientLeft("the client is gone")
        return task.result()
    finally:
        task.cancel()
        gone.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def some_at_a_time(works: list[Coroutine[Any, Any, T]], count: int) -> list[T]:
    """What each returns, in order, `count` of them under way together; with the first that raises all others end."""
    places = asyncio.Semaphore(count)

    async def one(work: Coroutine[Any, Any, T]) -> T:
        async with places:
            return await work

    tasks = [asyncio.ensure_future(one(work)) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for work in works:
            work.close()
