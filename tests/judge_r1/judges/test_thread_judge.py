"""A judge in a thread: one call at a time, and none whose caller has left."""

import asyncio
import threading
from typing import Any

import pytest

from judge_r1.core.case_store import CaseStore
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.baselines import Baseline
from judge_r1.judges.panel import served_judge
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of
from judge_r1.judges.runners import ThreadJudge


def request(name: str) -> JudgeRequest:
    return request_of(name, CaseStore(), reasoning_a="x", reasoning_b="y")


async def item_ids(judge: ThreadJudge, name: str) -> list[str]:
    return [found.request.item.item_id async for found in judge.judge([request(name)])]


def test_calls_run_one_at_a_time_and_cancelled_ones_never_start() -> None:
    go, started = threading.Event(), []

    def rule(request: JudgeRequest, task: Any) -> float:
        started.append(request.item.item_id)
        assert go.wait(180)
        return 1.0

    judge = ThreadJudge(Baseline("blocked", rule, 0))

    async def run_calls() -> None:
        calls = [asyncio.create_task(item_ids(judge, name)) for name in "abc"]
        while not started:
            await asyncio.sleep(0.005)
        calls[0].cancel()
        calls[1].cancel()
        await asyncio.sleep(0.05)
        assert started == ["a"]
        go.set()
        assert await asyncio.wait_for(calls[2], 20) == ["c"]

    asyncio.run(run_calls())
    assert started == ["a", "c"]
    judge.close()
    [thread] = judge._thread._threads
    thread.join(20)
    assert not thread.is_alive()


def test_errors_of_a_rule_are_raised() -> None:
    judge = served_judge("longer", JudgeBuild(""))
    assert isinstance(judge, ThreadJudge)

    def fails(request: JudgeRequest, task: Any) -> float:
        raise BadJudge("no such thing")

    judge._judge = Baseline("fails", fails, 0)
    with pytest.raises(BadJudge, match="no such thing"):
        asyncio.run(item_ids(judge, "a"))
    judge.close()
