"""`run_sync`: with and without a running event loop."""

import asyncio
from contextvars import ContextVar

import pytest

from judge_r1.core.event_loop import run_sync

_NAME: ContextVar[str] = ContextVar("name", default="")


async def _name(suffix: str) -> str:
    await asyncio.sleep(0)
    return _NAME.get() + suffix


async def _fails() -> None:
    raise ValueError("from inside")


async def _caller() -> str:
    _NAME.set("ana")
    with pytest.raises(ValueError, match="from inside"):
        run_sync(_fails())
    return run_sync(_name("!"))


def test_without_a_loop() -> None:
    assert run_sync(_name("!")) == "!"
    with pytest.raises(ValueError, match="from inside"):
        run_sync(_fails())


def test_inside_a_loop_context_variables_and_errors_pass_through() -> None:
    assert asyncio.run(_caller()) == "ana!"
