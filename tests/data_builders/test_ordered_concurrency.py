"""`in_order` yields results in input order with bounded lookahead, and stops cleanly on errors."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data_builders.build import in_order


@given(st.integers(0, 40), st.integers(1, 8), st.randoms(use_true_random=False))
def test_results_keep_their_order_and_lookahead_is_bounded(count: int, ahead: int, rng: Random) -> None:
    """Finished results that wait for an earlier one count towards the bound."""
    read: list[int] = []

    def items() -> Iterator[int]:
        for item in range(count):
            read.append(item)
            yield item

    async def work(item: int) -> int:
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        return item * item

    async def main() -> list[int]:
        found = []
        async for result in in_order(items(), work, ahead):
            found.append(result)
            assert len(read) - len(found) < ahead + 1
        return found

    assert asyncio.run(main()) == [item * item for item in range(count)]
    assert read == list(range(count))


def test_an_error_is_raised_in_order_and_stops_later_items() -> None:
    finished: list[int] = []

    async def work(item: int) -> int:
        if item == 2:
            raise ValueError("item 2")
        await asyncio.sleep(0.01 * item)
        finished.append(item)
        return item

    found: list[int] = []

    async def main() -> None:
        async for result in in_order(iter(range(100)), work, 6):
            found.append(result)

    with pytest.raises(ValueError, match="item 2"):
        asyncio.run(main())
    assert found == [0, 1]
    assert max(finished) < 8


def test_closing_cancels_running_work() -> None:
    cancelled: list[int] = []

    async def work(item: int) -> int:
        try:
            await asyncio.sleep(60 if item else 0)
        except asyncio.CancelledError:
            cancelled.append(item)
            raise
        return item

    async def main() -> None:
        async with aclosing(in_order(iter(range(9)), work, 4)) as results:
            async for _ in results:
                break

    asyncio.run(asyncio.wait_for(main(), 10))
    assert cancelled == [1, 2, 3]
