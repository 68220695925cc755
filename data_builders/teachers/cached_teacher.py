"""How builders ask: through the cache, one call for equal asks, so many calls at a time, and none that is not paid for.

    with Cache(path) as cache:
        async with open_teacher("chat:https://host/v1#model", cache, spending=Spending(prices, budget)) as teacher:
            answer = await teacher.ask(ask)

Start as many asks at once as you like: the gate lets `Limits.concurrency` of them through. Leaving the block lets calls
in flight come home, which are paid for, and starts no other.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from data_builders.teachers import Teacher, TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import Cache, Entry, ask_key
from data_builders.teachers.budget import Spending
from data_builders.teachers.http_teacher import HttpTeacher
from data_builders.teachers.spec import find_key, parse_spec
from judge_r1.models.http_client import DEFAULT_POLICY, RetryPolicy


class ConcurrencyGate:
    """So many calls at a time, from the question until its answer is on disk; none once the budget is spent or the gate
    is closed. A call that got through is never stopped."""

    def __init__(self, spending: Spending, concurrency: int) -> None:
        self.spending = spending
        self._slots = asyncio.Semaphore(concurrency)
        self._closed = False

    @asynccontextmanager
    async def passing(self, teacher: str) -> AsyncIterator[None]:
        """Errors: BudgetSpent, and TeacherError behind a closed gate."""
        async with self._slots:
            if self._closed:
                raise TeacherError(f"{teacher} is not asked any more: the run is ending")
            self.spending.check()
            yield

    def close(self) -> None:
        self._closed = True


class CachedTeacher:
    """Answers from the cache, or asks and keeps the answer before anyone sees it. Equal asks at the same time share one
    call, which goes on even if whoever asked first gives up."""

    def __init__(self, teacher: Teacher, cache: Cache, gate: ConcurrencyGate | None = None) -> None:
        self._teacher, self._cache = teacher, cache
        self._gate = gate or ConcurrencyGate(Spending(), DEFAULT_POLICY.concurrency)
        self._running: dict[str, asyncio.Task[TeacherReply]] = {}

    @property
    def name(self) -> str:
        return self._teacher.name

    async def ask(self, ask: TeacherRequest) -> TeacherReply:
        key = ask_key(self.name, ask)
        if (task := self._running.get(key)) is None:
            if (answer := self._cache.get(key)) is not None:
                self._gate.spending.reused(self.name)
                return answer
            task = self._running[key] = asyncio.create_task(self._fetch(key, ask))
        return await asyncio.shield(task)

    async def drain(self) -> None:
        """Wait until no call is in flight; what they bring is kept, what they fail with is dropped."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _fetch(self, key: str, ask: TeacherRequest) -> TeacherReply:
        try:
            async with self._gate.passing(self.name):
                try:
                    answer = await self._teacher.ask(ask)
                except TeacherRefused as error:
                    self._gate.spending.refused(self.name, str(error))
                    raise
                self._gate.spending.paid(self.name, answer)
                return await self._cache.put(Entry(key, self.name, answer))
        finally:
            del self._running[key]


@asynccontextmanager
async def open_teacher(
    spec: str, cache: Cache, *, limits: RetryPolicy = DEFAULT_POLICY, spending: Spending | None = None
) -> AsyncIterator[CachedTeacher]:
    """The teacher of a SPEC, ready to be asked. Errors: TeacherError for a bad SPEC, a missing key, a missing price."""
    spending = spending or Spending()
    wire = parse_spec(spec)
    spending.open_account(wire.name, cache.tokens(wire.name))
    http = HttpTeacher(wire, find_key(wire), limits)
    gate = ConcurrencyGate(spending, limits.concurrency)
    teacher = CachedTeacher(http, cache, gate)
    try:
        yield teacher
    finally:
        gate.close()
        await teacher.drain()  # bounded: each call in flight has its deadlines
        await http.aclose()
