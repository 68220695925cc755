"""A judge in a thread: one play at a time, and none that nobody waits for."""

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
from judge_r1.judges.runners.thread import ThreadJudge


def game(name: str) -> JudgeRequest:
    return request_of(name, CaseStore(), reasoning_a="x", reasoning_b="y")


async def played(judge: ThreadJudge, name: str) -> list[str]:
    return [found.request.item.item_id async for found in judge.judge([game(name)])]


def test_one_at_a_time_and_what_is_given_up_before_its_turn_is_never_begun() -> None:
    go, began = threading.Event(), []

    def rule(ask: JudgeRequest, question: Any) -> float:
        began.append(ask.item.item_id)
        assert go.wait(20)
        return 1.0

    judge = ThreadJudge(Baseline("held", rule, 0))

    async def talk() -> None:
        games = [asyncio.create_task(played(judge, name)) for name in "abc"]
        while not began:
            await asyncio.sleep(0.005)
        games[0].cancel()
        games[1].cancel()
        await asyncio.sleep(0.05)
        assert began == ["a"]
        go.set()
        assert await asyncio.wait_for(games[2], 20) == ["c"]

    asyncio.run(talk())
    assert began == ["a", "c"]
    judge.close()
    [thread] = judge._thread._threads
    thread.join(20)
    assert not thread.is_alive()


def test_what_a_rule_raises_is_told() -> None:
    judge = served_judge("longer", JudgeBuild(""))
    assert isinstance(judge, ThreadJudge)

    def fails(ask: JudgeRequest, question: Any) -> float:
        raise BadJudge("no such thing")

    judge._judge = Baseline("fails", fails, 0)
    with pytest.raises(BadJudge, match="no such thing"):
        asyncio.run(played(judge, "a"))
    judge.close()
