"""Joins rollouts that arrive one by one into groups, for trainers that ask for one reward at a time."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from judge_r1.rewards.group import GroupScores

K = TypeVar("K", bound=Hashable)
M = TypeVar("M")


class CollectorFull(Exception):
    """The collector holds as many rollouts as it may."""


class JudgmentFailed(Exception):
    """A rollout has no reward. The message is the reason."""


@dataclass
class _Group(Generic[M]):
    """The members that wait for their scores, in the order of arrival. It is full with `size` of them."""

    size: int
    members: dict["asyncio.Future[tuple[float, GroupScores]]", M] = field(default_factory=dict)
    full: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None


class Collector(Generic[K, M]):
    """Members with one key form a group. It is judged when it has `size` members or `deadline_s` after its first one
    arrived, whichever is earlier. Use it in one event loop.

    A member that is cancelled leaves its group; when the last one leaves, the judging is cancelled. Members that arrive
    after their group is closed form a new group: no score depends on another group. At most `max_members` wait.
    """

    def __init__(self, judge: Callable[[K, Sequence[M]], Awaitable[GroupScores]], *, max_members: int = 65_536) -> None:
        self._judge, self._max_members = judge, max_members
        self._open: dict[K, _Group[M]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed: Exception | None = None
        self.waiting = 0

    async def join(self, key: K, member: M, *, size: int, deadline_s: float) -> tuple[float, GroupScores]:
        """The score of `member`, and those of its group. The first member of a group sets its size and deadline.

        Raises:
            CollectorFull: Too many members wait for their scores.
            JudgmentFailed: The member has no score.
            Exception: What `judge` raises, or what `close` was given.
        """
        if self._closed is not None:
            raise self._closed
        if self.waiting >= self._max_members:
            raise CollectorFull(f"{self.waiting} rollouts wait for their groups: try again later")
        group = self._open.get(key)
        if group is None:
            group = self._open[key] = _Group(size)
            group.task = asyncio.ensure_future(self._run(key, group, deadline_s))
            self._tasks.add(group.task)
            group.task.add_done_callback(self._tasks.discard)
        answer: asyncio.Future[tuple[float, GroupScores]] = asyncio.get_running_loop().create_future()
        group.members[answer] = member
        self.waiting += 1
        # Closed here and not by its task, which runs later: a further member must not get in between.
        if len(group.members) >= group.size:
            group.full.set()
            del self._open[key]
        try:
            return await answer
        finally:
            self.waiting -= 1
            del group.members[answer]
            if not group.members and group.task is not None:
                self._forget(key, group)
                group.task.cancel()

    def close(self, error: Exception) -> None:
        """Ends the groups that are not full and admits no more members: both raise `error`. Full groups are judged."""
        self._closed = error
        for group in list(self._open.values()):
            _fail(group.members, error)
        self._open.clear()

    async def _run(self, key: K, group: _Group[M], deadline_s: float) -> None:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(group.full.wait(), deadline_s)
        self._forget(key, group)
        # Members that are cancelled leave the group while it is judged.
        members = dict(group.members)
        try:
            found = await self._judge(key, list(members.values()))
        except Exception as error:
            _fail(members, error)
            return
        for answer, score, failure in zip(members, found.scores, found.failures, strict=True):
            if answer.done():
                continue
            if score is None:
                answer.set_exception(JudgmentFailed(failure or "the judge gave no valid answer"))
            else:
                answer.set_result((score, found))

    def _forget(self, key: K, group: _Group[M]) -> None:
        if self._open.get(key) is group:
            del self._open[key]


def _fail(answers: dict["asyncio.Future[tuple[float, GroupScores]]", M], error: Exception) -> None:
    for answer in answers:
        if not answer.done():
            answer.set_exception(error)
