"""The request queue: bounds, fairness between tenants, deadlines and cancellation."""

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


class SlowJudge:
    """Takes `seconds` for a request. `finished` holds the ids of the finished ones in order."""

    name, settings = "slow", {}

    def __init__(self, seconds: float, ended: str = "answer") -> None:
        self.seconds, self.ended = seconds, ended
        self.finished: list[str] = []
        self.running = self.peak = 0

    def check(self, requests: Sequence[JudgeRequest]) -> None: ...

    async def judge(self, requests: Sequence[JudgeRequest]) -> AsyncIterator[JudgeOutput]:
        for request in requests:
            self.running += 1
            self.peak = max(self.peak, self.running)
            try:
                await asyncio.sleep(self.seconds)
            finally:
                self.running -= 1
            self.finished.append(request.item.item_id)
            trajectory = Trajectory.without_ids(self.ended)
            yield JudgeOutput(request, trajectory, request.read(trajectory))


def make_request(name: str) -> JudgeRequest:
    return request_of(name, CaseStore(), reasoning_a="x", reasoning_b="y")


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def within() -> Any:
        return await asyncio.wait_for(work(), 20)

    return asyncio.run(within())


def test_concurrency_is_bounded_and_all_requests_finish() -> None:
    judge = SlowJudge(0.01)
    queue = RequestQueue(judge, max_concurrency=3, queue_size=100)
    run(lambda: asyncio.gather(*(queue.submit(make_request(str(n))) for n in range(20))))
    assert judge.peak == 3
    assert sorted(judge.finished, key=int) == [str(n) for n in range(20)]
    assert (queue.running, queue.waiting) == (0, 0)


def test_the_expected_seconds_follow_the_recent_requests_and_the_queue() -> None:
    queue = RequestQueue(SlowJudge(0.2), max_concurrency=1, queue_size=9)

    async def work() -> None:
        assert queue.expected_seconds is None
        await queue.submit(make_request("first"))
        assert queue.expected_seconds == pytest.approx(0.2, rel=0.9)
        alone = queue.expected_seconds
        others = [asyncio.create_task(queue.submit(make_request(str(number)))) for number in range(3)]
        await asyncio.sleep(0.05)
        assert queue.waiting == 2
        assert queue.expected_seconds == pytest.approx(3 * alone)
        await asyncio.gather(*others)

    run(work)


def test_tenants_take_turns() -> None:
    """Two requests of one tenant do not wait for ten earlier ones of another."""
    judge = SlowJudge(0.005)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=100)

    async def work() -> None:
        greedy = [queue.submit(make_request(f"greedy-{n}"), tenant="greedy") for n in range(10)]
        modest = [queue.submit(make_request(f"modest-{n}"), tenant="modest") for n in range(2)]
        await asyncio.gather(*greedy, *modest)

    run(work)
    assert [judge.finished.index(f"modest-{n}") for n in range(2)] == [2, 4]


def test_a_full_queue_rejects_with_a_retry_time() -> None:
    queue = RequestQueue(SlowJudge(0.05), max_concurrency=1, queue_size=2)

    async def work() -> list[Any]:
        return await asyncio.gather(*(queue.submit(make_request(str(n))) for n in range(5)), return_exceptions=True)

    found = run(work)
    rejected = [error for error in found if isinstance(error, QueueFull)]
    assert len(rejected) == 2
    assert all(error.seconds >= 1 for error in rejected)
    assert sum(isinstance(output, JudgeOutput) for output in found) == 3


def test_the_suggested_wait_is_one_that_clients_obey() -> None:
    """The estimate is 100 s x 2 waiting / 1. openai 3.57 gives up above 120 s."""
    queue = RequestQueue(SlowJudge(0.05), max_concurrency=1, queue_size=2)
    queue._mean_seconds = 100.0

    async def work() -> list[Any]:
        return await asyncio.gather(*(queue.submit(make_request(str(n))) for n in range(4)), return_exceptions=True)

    assert [error.seconds for error in run(work) if isinstance(error, QueueFull)] == [60]


def test_a_full_queue_makes_room_for_the_tenant_with_fewer_requests() -> None:
    """One tenant fills the queue. The other one's requests replace its latest ones until both have equally many."""
    judge = SlowJudge(0.01)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=6)

    async def work() -> list[Any]:
        greedy = [queue.submit(make_request(f"greedy-{n}"), tenant="greedy") for n in range(9)]
        modest = [queue.submit(make_request(f"modest-{n}"), tenant="modest") for n in range(4)]
        return await asyncio.gather(*greedy, *modest, return_exceptions=True)

    found = run(work)
    rejected = [n for n, error in enumerate(found) if isinstance(error, QueueFull)]
    assert rejected == [4, 5, 6, 7, 8, 12]
    assert len(judge.finished) == 7
    assert (queue.running, queue.waiting) == (0, 0)


@pytest.mark.parametrize("cancelled", ["replaced", "started", "waiting"])
def test_a_simultaneous_cancellation_leaks_no_slot(cancelled: str) -> None:
    judge = SlowJudge(0.02)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=2)

    async def work() -> None:
        first, *greedy = [asyncio.create_task(queue.submit(make_request(str(n)), tenant="greedy")) for n in range(3)]
        await asyncio.sleep(0.005)
        if cancelled == "replaced":
            modest = asyncio.create_task(queue.submit(make_request("modest"), tenant="modest"))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            greedy[-1].cancel()
            await modest
        elif cancelled == "started":
            await first
            greedy[0].cancel()
        else:
            greedy[0].cancel()
        await asyncio.gather(first, *greedy, return_exceptions=True)
        await queue.submit(make_request("after"))

    run(work)
    assert judge.finished[-1] == "after"
    assert (queue.running, queue.waiting) == (0, 0)


def test_a_deadline_includes_the_wait_and_frees_the_slot() -> None:
    judge = SlowJudge(0.2)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=5, timeout=0.3)

    async def work() -> list[Any]:
        found = await asyncio.gather(*(queue.submit(make_request(str(n))) for n in range(3)), return_exceptions=True)
        return [*found, await queue.submit(make_request("after"))]

    first, *late, after = run(work)
    assert isinstance(first, JudgeOutput)
    assert [type(error) for error in late] == [DeadlineExceeded, DeadlineExceeded]
    assert isinstance(after, JudgeOutput)
    assert judge.finished == ["0", "after"]


@pytest.mark.parametrize("waiting", [False, True])
def test_a_cancelled_request_frees_its_slot(waiting: bool) -> None:
    judge = SlowJudge(30)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=5)

    async def work() -> JudgeOutput:
        first = asyncio.create_task(queue.submit(make_request("first")))
        second = asyncio.create_task(queue.submit(make_request("second")))
        await asyncio.sleep(0.02)
        for task in [second, first] if waiting else [first, second]:
            task.cancel()
            await asyncio.sleep(0.01)
        judge.seconds = 0.01
        return await queue.submit(make_request("third"))

    assert isinstance(run(work), JudgeOutput)
    assert judge.finished == ["third"]
    assert (queue.running, queue.waiting, judge.running) == (0, 0, 0)


def test_a_request_that_is_cancelled_in_the_moment_of_its_slot_passes_it_on() -> None:
    queue = RequestQueue(SlowJudge(0.01), max_concurrency=1, queue_size=5)

    async def work() -> JudgeOutput:
        async def first() -> None:
            await queue.submit(make_request("first"))
            second.cancel()  # it has the slot now, and has not woken up

        running = asyncio.create_task(first())
        await asyncio.sleep(0)
        second = asyncio.create_task(queue.submit(make_request("second")))
        _, cancelled = await asyncio.gather(running, second, return_exceptions=True)
        assert isinstance(cancelled, asyncio.CancelledError)
        return await queue.submit(make_request("third"))

    assert isinstance(run(work), JudgeOutput)
    assert (queue.running, queue.waiting) == (0, 0)


def test_an_infrastructure_failure_raises() -> None:
    with pytest.raises(BackendFailed, match="infrastructure_no_answer"):
        run(lambda: RequestQueue(SlowJudge(0, "infrastructure_no_answer")).submit(make_request("1")))


def test_draining_finishes_accepted_requests_and_rejects_new_ones() -> None:
    judge = SlowJudge(0.05)
    queue = RequestQueue(judge, max_concurrency=1, queue_size=5)

    async def work() -> tuple[list[Any], bool]:
        accepted = [asyncio.create_task(queue.submit(make_request(str(n)))) for n in range(3)]
        await asyncio.sleep(0.01)
        draining = asyncio.create_task(queue.drain(5))
        await asyncio.sleep(0.01)
        with pytest.raises(ShuttingDown):
            await queue.submit(make_request("late"))
        return await asyncio.gather(*accepted, return_exceptions=True), await draining

    outputs, drained = run(work)
    assert drained
    assert all(isinstance(output, JudgeOutput) for output in outputs)
