"""Rollouts that arrive one by one: groups, deadlines, members that vanish."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest

from judge_r1.rewards.collector import Collector, CollectorFull, JudgmentFailed
from judge_r1.rewards.group import ALONE, GroupScores


class Judged:
    """A judge that scores members by their numbers and records the groups."""

    def __init__(self) -> None:
        self.groups: list[tuple[str, list[float]]] = []
        self.cancelled = 0
        self.wait = asyncio.Event()
        self.wait.set()

    async def __call__(self, key: str, members: Sequence[float]) -> GroupScores:
        self.groups.append((key, list(members)))
        try:
            await self.wait.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if key == "broken":
            raise RuntimeError("the judge is down")
        valid = len(members) > 1
        scores = tuple(member if valid and member >= 0 else None for member in members)
        return GroupScores(scores, tuple(None if score is not None else ALONE for score in scores), ())


def in_an_event_loop(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    return lambda: asyncio.run(asyncio.wait_for(test(), 10))


async def joined(
    groups: Collector[str, float], key: str, member: float, size: int = 2, deadline_s: float = 0.1
) -> float:
    return (await groups.join(key, member, size=size, deadline_s=deadline_s))[0]


@in_an_event_loop
async def test_a_full_group_is_judged_and_a_later_member_is_in_another_group() -> None:
    groups = Collector(judge := Judged())
    arrivals = [(key, number) for number in (0.1, 0.2, 0.3, 0.4) for key in ("a", "b")]
    found = await asyncio.gather(*(joined(groups, key, number, deadline_s=60) for key, number in arrivals))
    assert list(found) == [number for _, number in arrivals]
    assert sorted(judge.groups) == [("a", [0.1, 0.2]), ("a", [0.3, 0.4]), ("b", [0.1, 0.2]), ("b", [0.3, 0.4])]
    await asyncio.sleep(0.01)
    assert (groups.waiting, groups._open, groups._tasks) == (0, {}, set())


@in_an_event_loop
async def test_the_first_member_sets_the_size() -> None:
    groups = Collector(judge := Judged())
    sizes = ((0.1, 3), (0.2, 2), (0.3, 4))
    found = await asyncio.gather(*(joined(groups, "a", n, size=size, deadline_s=60) for n, size in sizes))
    assert (found, judge.groups) == ([0.1, 0.2, 0.3], [("a", [0.1, 0.2, 0.3])])


@in_an_event_loop
async def test_the_deadline_closes_a_group() -> None:
    groups = Collector(judge := Judged())
    found = await asyncio.gather(*(joined(groups, "a", number, size=3) for number in (0.1, 0.2)))
    assert (found, judge.groups) == ([0.1, 0.2], [("a", [0.1, 0.2])])
    with pytest.raises(JudgmentFailed, match=ALONE):
        await joined(groups, "a", 0.3, size=3)
    assert groups.waiting == 0


@in_an_event_loop
async def test_a_member_that_vanishes_blocks_nobody() -> None:
    groups = Collector(judge := Judged())
    gone, *others = [asyncio.ensure_future(joined(groups, "a", n, size=4)) for n in (0.1, 0.2, 0.3)]
    await asyncio.sleep(0.01)
    gone.cancel()
    assert await asyncio.gather(*others) == [0.2, 0.3]
    assert judge.groups == [("a", [0.2, 0.3])]

    judge.wait.clear()  # while the group is judged
    gone, other = [asyncio.ensure_future(joined(groups, "b", n)) for n in (0.1, 0.2)]
    await asyncio.sleep(0.01)
    gone.cancel()
    judge.wait.set()
    assert (await other, judge.groups[-1]) == (0.2, ("b", [0.1, 0.2]))
    assert groups.waiting == 0


@in_an_event_loop
async def test_judging_stops_when_every_member_has_vanished() -> None:
    groups = Collector(judge := Judged())
    judge.wait.clear()
    tasks = [asyncio.ensure_future(joined(groups, "a", n)) for n in (0.1, 0.2)]
    waiting = asyncio.ensure_future(joined(groups, "b", 0.1, deadline_s=60))
    await asyncio.sleep(0.01)
    for task in [*tasks, waiting]:
        task.cancel()
    await asyncio.sleep(0.01)
    assert (judge.cancelled, judge.groups) == (1, [("a", [0.1, 0.2])])
    assert (groups.waiting, groups._open, groups._tasks) == (0, {}, set())


@in_an_event_loop
async def test_errors_and_missing_scores_are_raised() -> None:
    groups = Collector(Judged())
    found = await asyncio.gather(*(joined(groups, "a", n) for n in (0.5, -1)), return_exceptions=True)
    assert found[0] == 0.5
    assert isinstance(found[1], JudgmentFailed)
    found = await asyncio.gather(*(joined(groups, "broken", n) for n in (0.1, 0.2)), return_exceptions=True)
    assert [str(error) for error in found] == ["the judge is down"] * 2


@in_an_event_loop
async def test_members_are_bounded_and_a_shutdown_answers_those_that_wait() -> None:
    groups = Collector(Judged(), max_members=2)
    tasks = [asyncio.ensure_future(joined(groups, key, 0.1, deadline_s=60)) for key in ("a", "b")]
    await asyncio.sleep(0)
    with pytest.raises(CollectorFull, match="2 rollouts wait"):
        await joined(groups, "c", 0.1)
    groups.close(JudgmentFailed("the server is shutting down"))
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(error) for error in found] == ["the server is shutting down"] * 2
    with pytest.raises(JudgmentFailed, match="the server is shutting down"):  # nobody could join it
        await joined(groups, "d", 0.1, deadline_s=60)
    await asyncio.sleep(0.01)
    assert (groups.waiting, groups._open, groups._tasks) == (0, {}, set())
