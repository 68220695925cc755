"""The local engine: shared batches, cancellation, errors and closing."""

import asyncio
import copy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from judge_r1.models.base import GenerateRequest, LanguageModel
from judge_r1.models.batch import ContinuousBatch
from judge_r1.models.engine import BackgroundModel, LocalModel


@pytest.fixture(scope="module")
def model(model_folder: Path) -> Any:
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()


@pytest.fixture
def engine(model: Any) -> Iterator[BackgroundModel]:
    engine = BackgroundModel(local(model, 4))
    yield engine
    engine.close()


def local(model: Any, max_rows: int, **options: Any) -> LocalModel:
    return LocalModel(model, lambda ids: "." * len(ids), (), pad_id=0, max_rows=max_rows, **options)


def request(number: int, tokens: int = 12) -> GenerateRequest:
    return GenerateRequest(prompt_ids=[number + 10, 20, 30], max_tokens=tokens, temperature=1.0, seed=number)


async def ids_of(engine: LanguageModel, request: GenerateRequest) -> list[int]:
    [generation] = await engine.generate([request])
    return list(generation.token_ids)


def test_overlapping_requests_get_the_ids_they_get_alone(engine: BackgroundModel) -> None:
    async def alone() -> list[list[int]]:
        return [await ids_of(engine, request(n, 5 + n)) for n in range(10)]

    async def together() -> list[list[int]]:
        async def late(n: int) -> list[int]:
            await asyncio.sleep(0.003 * n)
            return await ids_of(engine, request(n, 5 + n))

        return await asyncio.gather(*map(late, range(10)))

    assert asyncio.run(together()) == asyncio.run(alone())


def test_cancelled_requests_free_their_rows(engine: BackgroundModel) -> None:
    async def run() -> tuple[list[int], list[int]]:
        cancelled = [asyncio.create_task(ids_of(engine, request(50 + n, 800))) for n in range(4)]
        await asyncio.sleep(0.2)
        waiting = asyncio.create_task(ids_of(engine, request(1)))
        for task in cancelled:
            task.cancel()
        after = await asyncio.wait_for(waiting, 20)
        return after, await ids_of(engine, request(1))

    one, other = asyncio.run(run())
    assert one == other
    assert not engine.batch.busy


def test_an_idle_engine_continues_a_text_that_it_knows(model: Any) -> None:
    """A persistent engine gives the batch's memory back when nothing runs, and keeps the states of its texts."""
    engine, other = BackgroundModel(local(model, 4, persistent=True)), BackgroundModel(local(model, 4))
    first = request(1)

    async def turns(engine: BackgroundModel) -> list[int]:
        prompt = [*first.prompt_ids, *await ids_of(engine, first)]
        while engine.batch.rows:  # it is idle after a few rounds of its event loop
            await asyncio.sleep(0.01)
        return await ids_of(engine, GenerateRequest(prompt_ids=[*prompt, 5, 6], max_tokens=8, temperature=1.0, seed=2))

    try:
        assert asyncio.run(turns(engine)) == asyncio.run(turns(other))
        assert engine.batch.prefixes.longest([*first.prompt_ids, 5])[0]
    finally:
        engine.close()
        other.close()


def test_an_update_of_the_weights_waits_for_running_requests(model: Any) -> None:
    """Requests that run are completed with the old weights, and requests that come in meanwhile use the new ones."""
    engine, changed = BackgroundModel(local(copy.deepcopy(model), 2, persistent=True)), copy.deepcopy(model)
    with torch.no_grad():
        for parameter in changed.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    busy: list[tuple[bool, threading.Thread]] = []

    def change(batch: ContinuousBatch) -> None:
        busy.append((batch.busy, threading.current_thread()))
        batch.model.load_state_dict(changed.state_dict())
        batch.forget()

    async def run() -> list[list[int]]:
        running = [asyncio.create_task(ids_of(engine, request(n, 60))) for n in range(2)]
        while not engine.batch.busy:
            await asyncio.sleep(0)
        update = asyncio.create_task(asyncio.to_thread(engine.update, change))
        await asyncio.sleep(0.01)
        later = asyncio.create_task(ids_of(engine, request(0, 60)))
        await asyncio.wait_for(asyncio.gather(update, *running, later), 60)
        return [task.result() for task in (*running, later)]

    found = asyncio.run(run())
    engine.close()
    assert busy == [(False, engine._thread)], "the engine's own thread changes the weights: nothing runs beside it"
    old, new = (asyncio.run(ids_of(local(weights, 2), request(0, 60))) for weights in (model, changed))
    assert old != new
    assert [found[0], found[2]] == [old, new]


def test_an_update_that_fails_lets_requests_in_again(engine: BackgroundModel) -> None:
    def change(batch: ContinuousBatch) -> None:
        raise RuntimeError("weights do not fit")

    with pytest.raises(RuntimeError, match="do not fit"):
        engine.update(change)
    assert len(asyncio.run(ids_of(engine, request(1)))) == 12


def test_an_error_fails_the_running_requests_only(engine: BackgroundModel) -> None:
    async def run() -> list[Any]:
        bad = GenerateRequest(prompt_ids=[10**9], max_tokens=3)  # no such id
        failed = await asyncio.gather(engine.generate([bad]), return_exceptions=True)
        return [*failed, await ids_of(engine, request(1))]

    error, ids = asyncio.run(run())
    assert isinstance(error, Exception)
    assert len(ids) == 12


class Interrupt(BaseException):
    """As pytest-timeout's, which arrives anywhere: asyncio keeps it in the task that it meets."""


def test_an_interrupt_of_a_step_fails_all_requests(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = local(model, 1)

    def interrupt() -> None:
        raise Interrupt

    async def run() -> list[BaseException | list[int]]:
        calls = (ids_of(engine, request(n)) for n in range(2))  # one runs, one waits
        return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 10)

    monkeypatch.setattr(engine.batch, "step", interrupt)
    assert [str(error) for error in asyncio.run(run())] == ["the engine was interrupted"] * 2
    monkeypatch.undo()
    assert len(asyncio.run(ids_of(engine, request(1)))) == 12


def test_closing_fails_waiting_requests(model: Any) -> None:
    engine = BackgroundModel(local(model, 1))

    async def run() -> list[Any]:
        tasks = [asyncio.create_task(ids_of(engine, request(n, 900))) for n in range(3)]
        await asyncio.sleep(0.1)
        await asyncio.to_thread(engine.close)
        return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)

    assert all(isinstance(answer, RuntimeError) for answer in asyncio.run(run()))
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(ids_of(engine, request(1)))
