"""Work on many things at once, results in the order in which they came, never more than so many under way."""

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
    """`work(item)` for each item, in order; at most `ahead` items are under way or wait for their turn, and no more are
    read. The items are read in a thread. An error of `work` comes out at its turn, and what is still under way then is
    cancelled; so it is when the generator is closed."""
    under_way: deque[asyncio.Task[R]] = deque()
    more = True
    try:
        while more or under_way:
            free = ahead - len(under_way)
            if more and free:
                read: list[T] = await asyncio.to_thread(list, islice(items, free))
                more = len(read) == free
                under_way.extend(asyncio.create_task(work(item)) for item in read)
            if under_way:
                yield await under_way.popleft()
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
