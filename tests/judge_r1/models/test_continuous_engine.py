"""The engine: who asks while others run gets what it would get alone, and who leaves frees its place."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from judge_r1.models.continuous.engine import Engine
from judge_r1.models.continuous.request import Request


@pytest.fixture(scope="module")
def model(model_folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()


@pytest.fixture
def engine(model: Any) -> Iterator[Engine]:
    engine = Engine(model, lambda ids: "." * len(ids), (), pad_id=0, max_rows=4)
    yield engine
    engine.close()


def request(number: int, tokens: int = 12) -> Request:
    return Request([number + 10, 20, 30], max_tokens=tokens, seed=number)


def test_requests_that_come_and_go_get_what_they_get_alone(engine: Engine) -> None:
    async def alone() -> list[list[int]]:
        return [(await engine.generate(request(n, 5 + n))).ids for n in range(10)]

    async def together() -> list[list[int]]:
        async def late(n: int) -> list[int]:
            await asyncio.sleep(0.003 * n)
            return (await engine.generate(request(n, 5 + n))).ids

        return await asyncio.gather(*map(late, range(10)))

    assert asyncio.run(together()) == asyncio.run(alone())


def test_who_is_cancelled_leaves_and_the_others_go_on(engine: Engine) -> None:
    async def play() -> tuple[list[int], list[int]]:
        given_up = [asyncio.create_task(engine.generate(request(50 + n, 800))) for n in range(4)]
        await asyncio.sleep(0.2)
        waiting = asyncio.create_task(engine.generate(request(1)))
        for task in given_up:
            task.cancel()
        after = (await asyncio.wait_for(waiting, 20)).ids
        return after, (await engine.generate(request(1))).ids

    one, other = asyncio.run(play())
    assert one == other
    assert not engine.batch.busy


def test_an_error_is_told_to_all_who_run_and_the_next_is_served(engine: Engine) -> None:
    async def play() -> list[Any]:
        bad = Request([10**9], max_tokens=3, seed=0)  # no such id
        failed = await asyncio.gather(engine.generate(bad), return_exceptions=True)
        return [*failed, (await engine.generate(request(1))).ids]

    error, ids = asyncio.run(play())
    assert isinstance(error, Exception)
    assert len(ids) == 12


def test_a_closed_engine_tells_who_waits(model: Any) -> None:
    engine = Engine(model, lambda ids: "." * len(ids), (), pad_id=0, max_rows=1)

    async def play() -> list[Any]:
        tasks = [asyncio.create_task(engine.generate(request(n, 900))) for n in range(3)]
        await asyncio.sleep(0.1)
        await asyncio.to_thread(engine.close)
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)

    assert all(isinstance(answer, RuntimeError) for answer in asyncio.run(play()))
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(engine.generate(request(1)))
