"""Processes items concurrently and yields the results in the order of the items."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from itertools import islice
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def in_order(
    items: Iterator[T], work: Callable[[T], Coroutine[Any, Any, R]], ahead: int
) -> AsyncGenerator[R, None]:
    """Yield `work(item)` for each item, in order. At most `ahead` items are read, in progress or waiting to be yielded.

    Items are read in a thread. An error of `work` is raised in its turn. It cancels the items in progress, and so does
    closing the generator.
    """
    tasks: deque[asyncio.Task[R]] = deque()
    more = True
    try:
        while more or tasks:
            free = ahead - len(tasks)
            if more and free:
                read: list[T] = await asyncio.to_thread(list, islice(items, free))
                more = len(read) == free
                tasks.extend(asyncio.create_task(work(item)) for item in read)
            if tasks:
                yield await tasks.popleft()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
