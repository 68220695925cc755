"""The queue: bounded, fair between owners, with deadlines; who leaves frees a place."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from judge_r1.core.case_store import CaseStore
from judge_r1.core.records import Trajectory
from judge_r1.judges.base import JudgeOutput
from judge_r1.judges.request import JudgeRequest
from judge_r1.judges.result import request_of
from judge_r1.serving.queue import BackendFailed, DeadlineExceeded, QueueFull, RequestQueue, ShuttingDown


class Slow:
    """Takes `seconds` for a game and writes down who was played, in order."""

    name, settings = "slow", {}

    def __init__(self, seconds: float, ended: str = "answer") -> None:
        self.seconds, self.ended = seconds, ended
        self.played: list[str] = []
        self.now = self.most = 0

    def check(self, asks: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, asks: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for ask in asks:
            self.now += 1
            self.most = max(self.most, self.now)
            try:
                await asyncio.sleep(self.seconds)
            finally:
                self.now -= 1
            self.played.append(ask.item.item_id)
            trajectory = Trajectory.without_ids(self.ended)
            yield JudgeOutput(ask, trajectory, ask.read(trajectory))


def ask(name: str) -> JudgeRequest:
    return request_of(name, CaseStore(), reasoning_a="x", reasoning_b="y")


def run(play: Callable[[], Awaitable[Any]]) -> Any:
    async def within() -> Any:
        return await asyncio.wait_for(play(), 20)

    return asyncio.run(within())


def test_no_more_than_may_run_do_and_all_are_played() -> None:
    judge = Slow(0.01)
    queue = RequestQueue(judge, max_concurrency=3, queue_size=100)
    run(lambda: asyncio.gather(*(queue.submit(ask(str(n))) for n in range(20))))
    assert judge.most == 3
    assert sorted(judge.played, key=int) == [str(n) for n in range(20)]
    assert (queue.running, queue.waiting) == (0, 0)


def test_owners_have_their_turns() -> None:
    """One asks ten games, another two after that: they do not wait for all ten."""
    judge = Slow(0.005)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=100)

    async def play() -> None:
        greedy = [queue.submit(ask(f"greedy-{n}"), tenant="greedy") for n in range(10)]
        modest = [queue.submit(ask(f"modest-{n}"), tenant="modest") for n in range(2)]
        await asyncio.gather(*greedy, *modest)

    run(play)
    assert [judge.played.index(f"modest-{n}") for n in range(2)] == [2, 4]


def test_a_full_queue_says_when_to_come_again() -> None:
    queue = RequestQueue(Slow(0.05), max_concurrency=1, queue_size=2)

    async def play() -> list[Any]:
        return await asyncio.gather(*(queue.submit(ask(str(n))) for n in range(5)), return_exceptions=True)

    found = run(play)
    busy = [error for error in found if isinstance(error, QueueFull)]
    assert len(busy) == 2
    assert all(error.seconds >= 1 for error in busy)
    assert sum(isinstance(game, JudgeOutput) for game in found) == 3


def test_a_full_queue_has_room_for_who_has_less_in_it() -> None:
    """One fills the queue; of the other's games as many come in as make it even, in the place of the last ones."""
    judge = Slow(0.01)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=6)

    async def play() -> list[Any]:
        greedy = [queue.submit(ask(f"greedy-{n}"), tenant="greedy") for n in range(9)]
        modest = [queue.submit(ask(f"modest-{n}"), tenant="modest") for n in range(4)]
        return await asyncio.gather(*greedy, *modest, return_exceptions=True)

    found = run(play)
    busy = [n for n, error in enumerate(found) if isinstance(error, QueueFull)]
    assert busy == [4, 5, 6, 7, 8, 12]
    assert len(judge.played) == 7
    assert (queue.running, queue.waiting) == (0, 0)


@pytest.mark.parametrize("cancelled", ["pushed out", "given a place", "waiting"])
def test_who_leaves_in_the_same_moment_takes_no_place_along(cancelled: str) -> None:
    judge = Slow(0.02)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=2)

    async def play() -> None:
        first, *greedy = [asyncio.create_task(queue.submit(ask(str(n)), tenant="greedy")) for n in range(3)]
        await asyncio.sleep(0.005)
        if cancelled == "pushed out":
            modest = asyncio.create_task(queue.submit(ask("modest"), tenant="modest"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            greedy[-1].cancel()
            await modest
        elif cancelled == "given a place":
            await first
            greedy[0].cancel()
        else:
            greedy[0].cancel()
        await asyncio.gather(first, *greedy, return_exceptions=True)
        await queue.submit(ask("after"))

    run(play)
    assert judge.played[-1] == "after"
    assert (queue.running, queue.waiting) == (0, 0)


def test_a_deadline_counts_the_wait_and_frees_the_place() -> None:
    judge = Slow(0.2)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=5, timeout=0.3)

    async def play() -> list[Any]:
        found = await asyncio.gather(*(queue.submit(ask(str(n))) for n in range(3)), return_exceptions=True)
        return [*found, await queue.submit(ask("after"))]

    first, *late, after = run(play)
    assert isinstance(first, JudgeOutput)
    assert [type(error) for error in late] == [DeadlineExceeded, DeadlineExceeded]
    assert isinstance(after, JudgeOutput)
    assert judge.played == ["0", "after"]


@pytest.mark.parametrize("waiting", [False, True])
def test_who_leaves_frees_a_place(waiting: bool) -> None:
    judge = Slow(30)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=5)

    async def play() -> JudgeOutput:
        first = asyncio.create_task(queue.submit(ask("first")))
        second = asyncio.create_task(queue.submit(ask("second")))
        await asyncio.sleep(0.02)
        for gone in [second, first] if waiting else [first, second]:
            gone.cancel()
            await asyncio.sleep(0.01)
        judge.seconds = 0.01
        return await queue.submit(ask("third"))

    assert isinstance(run(play), JudgeOutput)
    assert judge.played == ["third"]
    assert (queue.running, queue.waiting, judge.now) == (0, 0, 0)


def test_a_lost_game_is_no_judgment() -> None:
    with pytest.raises(BackendFailed, match="infrastructure_no_answer"):
        run(lambda: RequestQueue(Slow(0, "infrastructure_no_answer")).submit(ask("1")))


def test_draining_plays_what_was_taken_and_takes_no_more() -> None:
    judge = Slow(0.05)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=5)

    async def play() -> tuple[list[Any], bool]:
        taken = [asyncio.create_task(queue.submit(ask(str(n)))) for n in range(3)]
        await asyncio.sleep(0.01)
        draining = asyncio.create_task(queue.drain(5))
        await asyncio.sleep(0.01)
        with pytest.raises(ShuttingDown):
            await queue.submit(ask("late"))
        return await asyncio.gather(*taken, return_exceptions=True), await draining

    games, drained = run(play)
    assert drained
    assert all(isinstance(game, JudgeOutput) for game in games)
