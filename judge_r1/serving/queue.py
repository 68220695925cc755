"""The request queue of a judge: bounded concurrency, bounded length, fair turns between tenants, deadlines."""

import asyncio
import sys
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from judge_r1.episode.driver import StepCallback, step_callback
from judge_r1.judges.base import Judge, JudgeOutput
from judge_r1.judges.request import JudgeRequest

if sys.version_info >= (3, 11):
    from asyncio import timeout
else:
    from async_timeout import timeout

_RETRY_S = 0.25
"""How long a request with `wait_when_full` waits before it tries a full queue again."""

LONGEST_RETRY_S = 60
"""The longest wait that a full queue suggests. OpenAI's client gives up at once if it is asked to wait over 120 s."""


class QueueFull(Exception):
    """The queue is full, or the tenant has too large a share of it. `seconds` is a suggested wait before a retry."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the queue is full: try again in {seconds} s")
        self.seconds = seconds


class ShuttingDown(Exception):
    """The server is shutting down and accepts no requests."""


class DeadlineExceeded(Exception):
    """A request was not finished by its deadline."""


class BackendFailed(Exception):
    """The judge's backend gave no answer. The message is how the episode ended."""


@dataclass
class RequestQueue:
    """Runs up to `max_concurrency` requests at once. Up to `queue_size` more may wait.

    Each request has `timeout` seconds from its arrival. Waiting tenants take turns. When the queue is full, a new
    request replaces the newest one of the tenant with the most waiting requests. `observe_wait` receives the seconds
    that each request has waited.
    """

    judge: Judge
    max_concurrency: int = 16
    queue_size: int = 256
    timeout: float = 300.0
    observe_wait: Callable[[float], None] = lambda seconds: None
    running: int = field(default=0, init=False)
    closing: bool = field(default=False, init=False)
    _waiting: "OrderedDict[str, deque[asyncio.Future[None]]]" = field(default_factory=OrderedDict, init=False)
    _mean_seconds: float | None = field(default=None, init=False)

    async def submit(
        self,
        request: JudgeRequest,
        *,
        tenant: str = "",
        listener: StepCallback | None = None,
        wait_when_full: bool = False,
    ) -> JudgeOutput:
        """Runs one request. Cancellation stops it and frees its slot at once.

        `wait_when_full` retries until the deadline if the queue is full. It is for callers that bound their own
        concurrency.

        Raises:
            QueueFull, ShuttingDown, DeadlineExceeded, BackendFailed
        """
        try:
            async with timeout(self.timeout):  # `wait_for` would start a task
                return await self._submit(request, tenant, listener, wait_when_full)
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            raise DeadlineExceeded(f"no judgment within {self.timeout:g} s") from None

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def expected_seconds(self) -> float | None:
        """About how long a request takes that arrives now, by the mean of the recent ones; None before the first."""
        return self._mean_seconds and self._mean_seconds * (1 + self.waiting / self.max_concurrency)

    async def drain(self, seconds: float) -> bool:
        """Accepts no more requests and waits for the accepted ones. Returns False if some still run after `seconds`."""
        self.closing = True
        until = time.monotonic() + seconds
        while (self.running or self.waiting) and time.monotonic() < until:
            await asyncio.sleep(0.02)
        return not (self.running or self.waiting)

    async def _submit(
        self, request: JudgeRequest, tenant: str, listener: StepCallback | None, wait_when_full: bool
    ) -> JudgeOutput:
        arrived = time.monotonic()
        async with self._slot(tenant, wait_when_full):
            started = time.monotonic()
            self.observe_wait(started - arrived)
            with step_callback(listener):
                async with aclosing(self.judge.judge([request])) as outputs:  # type: ignore[type-var]
                    done = [output async for output in outputs]
            seconds, mean = time.monotonic() - started, self._mean_seconds
            # Exponential, so that the suggested wait follows a change of load within about ten requests.
            self._mean_seconds = seconds if mean is None else mean + 0.1 * (seconds - mean)
        if not done or done[0].trajectory.infrastructure_failed:
            raise BackendFailed(done[0].trajectory.ended if done else "no_answer")
        return done[0]

    @asynccontextmanager
    async def _slot(self, tenant: str, wait_when_full: bool) -> AsyncIterator[None]:
        while True:
            if self.closing:
                raise ShuttingDown("the server is shutting down")
            if self.running < self.max_concurrency:
                self.running += 1
                break
            try:
                await self._wait(tenant)
                break
            except QueueFull:
                if not wait_when_full:
                    raise
            await asyncio.sleep(_RETRY_S)
        try:
            yield
        finally:
            self.running -= 1
            self._start_next()

    async def _wait(self, tenant: str) -> None:
        if self.waiting >= self.queue_size:
            self._displace_for(tenant)
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(ready)
        try:
            await ready
        except asyncio.CancelledError:
            # Cancelled in any of three states: it still waits, it has a slot already, or it was displaced.
            if ready.cancelled():
                self._forget(tenant, ready)
            elif ready.exception() is None:  # it received its slot in the same moment
                self.running -= 1
                self._start_next()
            raise

    def _displace_for(self, tenant: str) -> None:
        """Rejects the newest request of the tenant with the most waiting requests.

        Raises:
            QueueFull: `tenant` would then have more requests in the queue than that tenant.
        """
        seconds = round((self._mean_seconds or 1.0) * self.waiting / self.max_concurrency)
        full = QueueFull(min(LONGEST_RETRY_S, max(1, seconds)))
        largest = max(self._waiting, key=lambda other: len(self._waiting[other]), default=tenant)
        # `+ 2`: the other tenant must not have fewer than this one afterwards, or they would displace each other.
        if len(self._waiting.get(largest, ())) < len(self._waiting.get(tenant, ())) + 2:
            raise full
        ready = self._waiting[largest][-1]
        self._forget(largest, ready)
        if not ready.done():
            ready.set_exception(full)

    def _forget(self, tenant: str, ready: "asyncio.Future[None]") -> None:
        queue = self._waiting.get(tenant, deque())
        if ready in queue:
            queue.remove(ready)
            if not queue:
                del self._waiting[tenant]

    def _start_next(self) -> None:
        """Gives free slots to the next tenants. A tenant moves to the end after each of its requests."""
        while self._waiting and self.running < self.max_concurrency:
            tenant, queue = self._waiting.popitem(last=False)
            ready = queue.popleft()
            if queue:
                self._waiting[tenant] = queue
            if not ready.done():
                self.running += 1
                ready.set_result(None)
