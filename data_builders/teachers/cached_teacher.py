"""Asks a teacher through the cache: equal requests share one call, and concurrency and budget are limited.

    with Cache(path) as cache:
        async with open_teacher("chat@https://host/v1#model", cache, spending=Spending(prices, budget)) as teacher:
            reply = await teacher.ask(request)

Leaving the block waits for calls in flight, which are paid for, and starts no others.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from data_builders.teachers import Teacher, TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import Cache, Entry, request_key
from data_builders.teachers.budget import Spending
from data_builders.teachers.endpoint import EndpointTeacher
from data_builders.teachers.local import LocalTeacher
from data_builders.teachers.spec import parse_spec
from judge_r1.core.endpoint import DEFAULT_POLICY, RetryPolicy, find_key
from judge_r1.core.record_base import content_hash

_STORED_S = 300.0
"""How long providers keep what they have read: Anthropic five minutes from the last use, OpenAI five to ten."""


class _Prefix:
    """A beginning that requests share: the lock of its first request, how many requests use it, and until when the
    provider has it."""

    def __init__(self) -> None:
        self.first, self.users, self.until = asyncio.Lock(), 0, -math.inf


class CachedTeacher:
    """Answers from the cache, or calls the teacher and stores the answer before returning it.

    Equal concurrent requests share one call, which continues if the first caller is cancelled. `concurrency` limits the
    calls, each from the request until its answer is on disk. No call starts when the budget is spent or the teacher is
    closed, and none that has started is stopped.

    Of requests with the same beginning the first is sent alone, because providers can read it from their cache only
    after they have answered a request.
    """

    def __init__(
        self,
        teacher: Teacher,
        cache: Cache,
        spending: Spending | None = None,
        concurrency: int = DEFAULT_POLICY.concurrency,
    ) -> None:
        self._teacher, self._cache, self._spending = teacher, cache, spending or Spending()
        self._slots, self._closed = asyncio.Semaphore(concurrency), False
        self._running: dict[str, asyncio.Task[TeacherReply]] = {}
        self._prefixes: dict[str, _Prefix] = {}

    @property
    def name(self) -> str:
        return self._teacher.name

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        key = request_key(self.name, request)
        if (task := self._running.get(key)) is None:
            if (answer := self._cache.get(key)) is not None:
                self._spending.add_cached(self.name, answer)
                return answer
            task = self._running[key] = asyncio.create_task(self._fetch(key, request))
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Start no other call, and wait until none is in flight. Answers are stored and errors are ignored."""
        self._closed = True
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _fetch(self, key: str, request: TeacherRequest) -> TeacherReply:
        """Raises: BudgetSpent; TeacherError if the teacher is closed; the errors of its `ask`."""
        try:
            async with self._prefix_of(request), self._slots:
                if self._closed:
                    raise TeacherError(f"{self.name} takes no more requests: the run is ending")
                self._spending.check()
                started = time.monotonic()
                try:
                    answer = await self._teacher.ask(request)
                except TeacherRefused as error:
                    self._spending.add_refusal(self.name, str(error))
                    raise
                self._spending.add(self.name, answer, time.monotonic() - started)
                return await self._cache.put(Entry(key, self.name, answer))
        finally:
            del self._running[key]

    @asynccontextmanager
    async def _prefix_of(self, request: TeacherRequest) -> AsyncIterator[None]:
        """Waits, before a request that shares its beginning, while the first one of these has no answer. An answer is
        counted as stored by the provider until nothing has used it for `_STORED_S`."""
        if not request.prefix:
            yield
            return
        key = content_hash(request.system, request.prefix)
        prefix = self._prefixes.setdefault(key, _Prefix())
        prefix.users += 1
        try:
            async with prefix.first:
                if time.monotonic() > prefix.until:
                    yield
                    prefix.until = time.monotonic() + _STORED_S
                    return
            yield
            prefix.until = time.monotonic() + _STORED_S
        finally:
            prefix.users -= 1
            if not prefix.users:
                now, known = time.monotonic(), self._prefixes.items()
                self._prefixes = {name: one for name, one in known if one.users or one.until > now}


@asynccontextmanager
async def open_teacher(
    spec: str, cache: Cache, *, policy: RetryPolicy = DEFAULT_POLICY, spending: Spending | None = None
) -> AsyncIterator[CachedTeacher]:
    """The teacher of a SPEC. Raises: EndpointError for an invalid SPEC, a missing key or a missing price;
    ModelUnavailable."""
    spending = spending or Spending()
    found = parse_spec(spec)
    source: EndpointTeacher | LocalTeacher
    if found.endpoint is None:
        source = await asyncio.to_thread(LocalTeacher.load, found.backend, policy.concurrency)
    else:
        source = found.at_endpoint(find_key(found.endpoint), policy)
    spending.open_account(source.name, cache.tokens(source.name), free=found.endpoint is None)
    teacher = CachedTeacher(source, cache, spending, policy.concurrency)
    try:
        yield teacher
    finally:
        await teacher.close()  # bounded by the deadline of each call, or by the longest local answer
        await source.aclose()
