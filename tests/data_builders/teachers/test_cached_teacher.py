import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_llm_server import FakeLLMServer
from teacher_factories import FAST, Stub, echo, request_for, run

from data_builders.teachers import BudgetSpent, TeacherError, TeacherReply
from data_builders.teachers.answer_cache import Cache
from data_builders.teachers.budget import Price, Spending
from data_builders.teachers.cached_teacher import CachedTeacher, open_teacher

PRICES = {"echo": Price(input=1_000, output=0), "toy": Price(input=1_000, output=0)}


@pytest.fixture
def cache(tmp_path: Path) -> Any:
    with Cache(tmp_path / "c.sqlite") as cache:
        yield cache


def test_a_shared_call_survives_cancellation_of_the_first_caller(cache: Cache) -> None:
    async def work(stub: Stub) -> TeacherReply:
        teacher = CachedTeacher(stub, cache)
        first, second = (asyncio.create_task(teacher.ask(request_for("q"))) for _ in range(2))
        await asyncio.sleep(0.02)
        first.cancel()
        return await second

    stub = Stub(wait_s=0.1)
    assert run(work(stub)).text == "be brief: q (0) é"
    assert stub.calls == {"q": 1}


def test_errors_reach_all_callers_and_are_not_cached(cache: Cache) -> None:
    async def work(stub: Stub) -> list[Any]:
        teacher = CachedTeacher(stub, cache)
        return await asyncio.gather(*(teacher.ask(request_for("q")) for _ in range(3)), return_exceptions=True)

    assert [str(error) for error in run(work(Stub(error=TeacherError("gone"))))] == ["gone"] * 3
    assert run(work(Stub()))[0].text == "be brief: q (0) é"


def test_concurrency_is_limited(cache: Cache) -> None:
    async def work(stub: Stub) -> None:
        teacher = CachedTeacher(stub, cache, Spending(), 3)
        await asyncio.gather(*(teacher.ask(request_for(f"q{n}")) for n in range(20)))

    stub = Stub(wait_s=0.01)
    run(work(stub))
    assert stub.peak == 3
    assert stub.calls.total() == 20


def test_a_spent_budget_stops_new_calls_and_finishes_running_ones(cache: Cache) -> None:
    async def work(stub: Stub, budget: float) -> list[Any]:
        spending = Spending(PRICES, budget)
        spending.open_account(stub.name, cache.tokens(stub.name))
        teacher = CachedTeacher(stub, cache, spending, 4)
        return await asyncio.gather(*(teacher.ask(request_for(f"q{n}")) for n in range(30)), return_exceptions=True)

    stub = Stub(wait_s=0.01)  # a call costs one dollar
    first = run(work(stub, 10.0))
    answered = [a for a in first if isinstance(a, TeacherReply)]
    assert 10 <= len(answered) <= 13  # three calls were running when the budget was spent
    assert stub.calls.total() == len(answered) == cache.tokens(stub.name).calls
    errors = {str(error) for error in first if isinstance(error, BudgetSpent)}
    assert len(answered) + sum(isinstance(error, BudgetSpent) for error in first) == 30
    assert any("the budget of $10.00 is spent" in error and "higher budget" in error for error in errors)
    again = Stub(wait_s=0.01)
    assert sum(isinstance(a, TeacherReply) for a in run(work(again, 10.0))) == len(answered)
    assert not again.calls  # the same budget allows no further call
    assert all(isinstance(a, TeacherReply) for a in run(work(again, 31.0)))
    assert again.calls.total() == 30 - len(answered)


def test_closing_early_finishes_running_calls_and_starts_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(server: FakeLLMServer) -> int:
        with Cache(tmp_path / "c.sqlite") as cache:
            async with open_teacher(server.chat, cache, policy=replace(FAST, concurrency=3)) as teacher:
                tasks = [asyncio.create_task(teacher.ask(request_for(f"q{n}"))) for n in range(20)]
                while server.in_flight < 3:
                    await asyncio.sleep(0.01)
                for task in tasks:
                    task.cancel()
            return cache.tokens("chat:toy").calls

    with FakeLLMServer(echo, latency_s=0.5) as server:
        stored = run(work(server))
        assert stored == server.served.total() == server.calls.total()
        assert 3 <= stored <= 6


def test_a_missing_price_fails_before_the_first_request(cache: Cache) -> None:
    async def work() -> None:
        spending = Spending({"tow": Price(input=1, output=1)}, 5.0)
        async with open_teacher("chat@http://127.0.0.1:9/v1#toy", cache, spending=spending):
            raise AssertionError("not reached")

    with pytest.raises(TeacherError, match="no model is named 'toy'; did you mean 'tow'"):
        run(work())
