"""The queue before a judge: so many games at a time, so many waiting, owners in turn, and a deadline for each."""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from judge_r1.judges.base import Judge, JudgeOutput
from judge_r1.judges.request import JudgeRequest
from judge_r1.models.step_callback import StepCallback, step_callback

_AGAIN_S = 0.25
"""How long a patient game stays away from a full queue."""


class QueueFull(Exception):
    """As many wait as may, or others who wait have a better right to a place; `seconds` is when it may be worth trying
    again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the queue is full: try again in {seconds} s")
        self.seconds = seconds


class ShuttingDown(Exception):
    """The server is going away and takes no more games."""


class DeadlineExceeded(Exception):
    """A game that was not over by its deadline."""


class BackendFailed(Exception):
    """A game that the judge's backend gave no answer to; the message is how it ended."""


@dataclass
class RequestQueue:
    """`running` games are played at a time and `waiting` more may wait; each has `seconds` from its arrival. Of the
    owners who wait, each has its turn, and in a full queue who has the most gives way to who has less. `waited` is told
    the seconds that each game has waited when it begins."""

    judge: Judge
    running: int = 16
    waiting: int = 256
    seconds: float = 300.0
    waited: Callable[[float], None] = lambda seconds: None
    now_running: int = field(default=0, init=False)
    closing: bool = field(default=False, init=False)
    _queues: "OrderedDict[str, deque[asyncio.Future[None]]]" = field(default_factory=OrderedDict, init=False)
    _mean_seconds: float = field(default=1.0, init=False)

    async def submit(
        self, ask: JudgeRequest, *, owner: str = "", listener: StepCallback | None = None, patient: bool = False
    ) -> JudgeOutput:
        """Errors: Busy, Closing, TooLate, Lost. Cancelled, the game is given up and its place is free at once. One that
        is `patient` comes again where the queue is full, until its deadline: for who has many and bounds them."""
        try:
            return await asyncio.wait_for(self._submit(ask, owner, listener, patient), self.seconds)
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            raise DeadlineExceeded(f"no judgment within {self.seconds:g} s") from None

    @property
    def now_waiting(self) -> int:
        return sum(map(len, self._queues.values()))

    async def drain(self, seconds: float) -> bool:
        """Take no more games and wait for those that were taken; False where some are still played."""
        self.closing = True
        until = time.monotonic() + seconds
        while (self.now_running or self.now_waiting) and time.monotonic() < until:
            await asyncio.sleep(0.02)
        return not (self.now_running or self.now_waiting)

    async def _submit(self, ask: JudgeRequest, owner: str, listener: StepCallback | None, patient: bool) -> JudgeOutput:
        arrived = time.monotonic()
        async with self._place(owner, patient):
            started = time.monotonic()
            self.waited(started - arrived)
            with step_callback(listener):
                async with aclosing(self.judge.judge([ask])) as games:  # type: ignore[type-var]
                    played = [game async for game in games]
            self._mean_seconds += 0.1 * (time.monotonic() - started - self._mean_seconds)
        if not played or played[0].trajectory.infrastructure_failed:
            raise BackendFailed(played[0].trajectory.ended if played else "no_answer")
        return played[0]

    @asynccontextmanager
    async def _place(self, owner: str, patient: bool) -> AsyncIterator[None]:
        while True:
            if self.closing:
                raise ShuttingDown("the server is closing")
            if self.now_running < self.running:
                self.now_running += 1
                break
            try:
                await self._wait(owner)
                break
            except QueueFull:
                if not patient:
                    raise
            await asyncio.sleep(_AGAIN_S)
        try:
            yield
        finally:
            self.now_running -= 1
            self._next()

    async def _wait(self, owner: str) -> None:
        if self.now_waiting >= self.waiting:
            self._make_room(owner)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queues.setdefault(owner, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._forget(owner, turn)
            elif turn.exception() is None:  # its place was given to it in the same moment
                self.now_running -= 1
                self._next()
            raise

    def _make_room(self, owner: str) -> None:
        """Send away the newest game of who has the most in the queue. Errors: Busy where `owner` would then have more
        than they."""
        busy = QueueFull(max(1, round(self._mean_seconds * self.now_waiting / self.running)))
        most = max(self._queues, key=lambda other: len(self._queues[other]), default=owner)
        if len(self._queues.get(most, ())) < len(self._queues.get(owner, ())) + 2:
            raise busy
        turn = self._queues[most][-1]
        self._forget(most, turn)
        if not turn.done():
            turn.set_exception(busy)

    def _forget(self, owner: str, turn: "asyncio.Future[None]") -> None:
        queue = self._queues.get(owner, deque())
        if turn in queue:
            queue.remove(turn)
            if not queue:
                del self._queues[owner]

    def _next(self) -> None:
        """Give a free place to the owner whose turn it is; an owner goes to the end after each game."""
        while self._queues and self.now_running < self.running:
            owner, queue = self._queues.popitem(last=False)
            turn = queue.popleft()
            if queue:
                self._queues[owner] = queue
            if not turn.done():
                self.now_running += 1
                turn.set_result(None)
