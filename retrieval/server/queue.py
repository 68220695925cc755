"""Gathers the searches of concurrent requests into calls of one retriever, with a bound on what may wait."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.case_index import Hit
from retrieval.errors import QueueFull, SearchTimeout, ServerClosing

Requests = Sequence[tuple[str, str]]
"""(case id, query) pairs."""


class Searcher(Protocol):
    """`retrieval.retriever.Retriever`, or a client of one."""

    def search(self, requests: Requests, k: int) -> list[list[Hit]]: ...


@dataclass(frozen=True)
class QueueLimits:
    """At most `waiting` searches wait; one call of the retriever gets at most about `batch` of them."""

    waiting: int = 8192
    batch: int = 1024


@dataclass(eq=False)
class _Job:
    requests: Requests
    k: int
    done: "asyncio.Future[list[list[Hit]]]"


class SearchQueue:
    """Searches arrive in an event loop and run in a thread, one call of the retriever at a time.

    While a call runs, others wait and are then searched together. `counts` has the searches by outcome and the calls.
    """

    def __init__(self, retriever: Searcher, limits: QueueLimits | None = None) -> None:
        self.retriever, self.limits = retriever, limits or QueueLimits()
        self.counts = {"answered": 0, "failed": 0, "refused": 0, "timed_out": 0, "abandoned": 0, "calls": 0}
        self.closing = False
        self._jobs: dict[_Job, None] = {}
        self._waiting = 0
        self._runner: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Searches that wait. Those that run are not among them."""
        return self._waiting

    async def search(self, requests: Requests, k: int, timeout_s: float) -> list[list[Hit]]:
        """The hits of each request. A search that times out, or whose caller is cancelled, leaves the queue.

        Raises:
            QueueFull: Too many searches wait.
            SearchTimeout: There is no answer within `timeout_s` seconds.
            ServerClosing: `close` was called.
            RetrievalError: What the retriever raises for these requests.
        """
        if self.closing:
            raise ServerClosing("the server is closing: send the search again")
        if self._waiting + len(requests) > self.limits.waiting:
            self.counts["refused"] += len(requests)
            raise QueueFull(f"{self._waiting} searches wait, and at most {self.limits.waiting} may: try again later")
        job = _Job(requests, k, asyncio.get_running_loop().create_future())
        self._jobs[job] = None
        self._waiting += len(requests)
        if self._runner is None:
            self._runner = asyncio.ensure_future(self._run())
        try:
            found = await asyncio.wait_for(job.done, timeout_s)
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            self.counts["timed_out"] += len(requests)
            raise SearchTimeout(f"no answer within {timeout_s:g} s: try again, or allow more time") from None
        except asyncio.CancelledError:
            self.counts["abandoned"] += len(requests)
            raise
        except Exception:
            self.counts["failed"] += len(requests)
            raise
        finally:
            self._remove(job)
        self.counts["answered"] += len(requests)
        return found

    async def close(self) -> None:
        """Refuses new searches and waits for the answers of the others."""
        self.closing = True
        while self._runner is not None:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(self._runner)

    def _remove(self, job: _Job) -> None:
        if job in self._jobs:
            del self._jobs[job]
            self._waiting -= len(job.requests)

    def _take(self) -> list[_Job]:
        """The oldest job and others with its k, up to the limit."""
        taken: list[_Job] = []
        size = 0
        for job in list(self._jobs):
            # The first job is taken whatever its size, or a large one would wait for ever.
            if taken and (job.k != taken[0].k or size + len(job.requests) > self.limits.batch):
                continue
            taken.append(job)
            size += len(job.requests)
            self._remove(job)
            if size >= self.limits.batch:
                break
        return taken

    async def _run(self) -> None:
        try:
            while jobs := self._take():
                await self._search_together(jobs)
        finally:
            self._runner = None

    async def _search_together(self, jobs: Sequence[_Job]) -> None:
        """One call for all jobs. If it fails, each job is searched alone, so that an error reaches its own caller."""
        self.counts["calls"] += 1
        together = [request for job in jobs for request in job.requests]
        try:
            found = await asyncio.to_thread(self.retriever.search, together, jobs[0].k)
            if len(found) != len(together):
                raise RuntimeError(f"the retriever gave {len(found)} answers to {len(together)} searches")
        except Exception as error:
            if len(jobs) == 1:
                if not jobs[0].done.done():
                    jobs[0].done.set_exception(error)
                return
            for job in jobs:
                if not job.done.done():
                    await self._search_together([job])
            return
        start = 0
        for job in jobs:
            if not job.done.done():
                job.done.set_result(found[start : start + len(job.requests)])
            start += len(job.requests)
