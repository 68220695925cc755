"""Seconds of calls that overlap: each one's own, or shares that add up to the time in which any ran."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.shared_time import SharedTime, TimeSharingModel


class Sleeper:
    """Answers after as many hundredths of a second as the request has prompt ids, which it reports for each request."""

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        seconds = sum(len(request.prompt_ids or ()) for request in requests) / 100
        await asyncio.sleep(seconds)
        return [Generation(usage=Usage(1, 1, 1, seconds)) for _ in requests]


def request(hundredths: int) -> GenerateRequest:
    return GenerateRequest(1, prompt_ids=[0] * hundredths)


async def total(calls: Sequence[Sequence[int]], model: TimeSharingModel) -> tuple[float, list[float]]:
    """The wall time of concurrent calls, and the seconds of all their generations."""
    started = time.monotonic()
    found = await asyncio.gather(*(model.generate([request(n) for n in call]) for call in calls))
    return time.monotonic() - started, [one.usage.seconds for call in found for one in call]


@pytest.mark.parametrize("calls", [[[10]], [[10, 5, 5]], [[5]] * 20, [[2], [10], [4, 4]]])
def test_the_seconds_of_concurrent_calls_add_up_to_the_time_that_they_take(calls: list[list[int]]) -> None:
    model = TimeSharingModel(Sleeper(), SharedTime())
    wall, seconds = asyncio.run(total(calls, model))
    assert all(second > 0 for second in seconds)
    assert sum(seconds) == pytest.approx(wall, abs=0.03)


def test_a_pause_between_calls_is_nobodys_time() -> None:
    model = TimeSharingModel(Sleeper(), SharedTime())

    async def work() -> float:
        first, one = await total([[2]], model)
        await asyncio.sleep(0.2)
        second, other = await total([[2]], model)
        assert sum(one) + sum(other) == pytest.approx(first + second, abs=0.02)
        return sum(one) + sum(other)

    assert asyncio.run(work()) < 0.15
