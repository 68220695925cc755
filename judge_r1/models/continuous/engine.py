"""A model that answers requests as they come: one thread steps the batch and takes newcomers in between two steps."""

import asyncio
import queue
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from judge_r1.models.continuous.request import Request
from judge_r1.models.continuous.scheduler import ContinuousBatch

Job = tuple[Request, "asyncio.Future[None]", asyncio.AbstractEventLoop]


class Engine:
    """`max_rows` requests run at a time, the others wait in the order they came. Close it, or it lives as long as its
    process: the thread is a daemon."""

    def __init__(
        self,
        model: Any,
        decode: Callable[[Sequence[int]], str],
        eos_ids: Collection[int],
        *,
        pad_id: int,
        max_rows: int,
    ) -> None:
        self.batch, self.max_rows = ContinuousBatch(model, decode, eos_ids, pad_id=pad_id), max_rows
        self._waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._between_steps, self._closed = threading.Lock(), False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    async def generate(self, request: Request) -> Request:
        """The request with its ids. Cancelled, it leaves the batch before the next step."""
        if self._closed:
            raise RuntimeError("the engine is closed")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.put((request, future, loop))
        try:
            await future
        except asyncio.CancelledError:
            request.cancelled = True
            raise
        return request

    @contextmanager
    def paused(self) -> Iterator[ContinuousBatch]:
        """The batch between two steps: for who changes the weights."""
        with self._between_steps:
            yield self.batch

    def close(self, seconds: float = 10.0) -> None:
        """No more requests; who still waits is told so by a RuntimeError."""
        self._closed = True
        self._waiting.put(None)
        self._thread.join(seconds)

    def _work(self) -> None:
        jobs: dict[int, Job] = {}
        while not self._closed and (new := self._newcomers(len(jobs))) is not None:
            jobs |= {id(job[0]): job for job in new}
            gone = [job[0] for job in jobs.values() if job[0].cancelled]
            try:
                with self._between_steps:
                    self.batch.drop(gone)
                    self.batch.admit([job[0] for job in new if not job[0].cancelled])
                    done = self.batch.step() if self.batch.busy else []
            except Exception as error:
                for job in jobs.values():
                    _tell(job, error)
                jobs.clear()
                self.batch.clear()
            else:
                for request in done:
                    _tell(jobs.pop(id(request)), None)
                for request in gone:
                    jobs.pop(id(request), None)
        waiting = [*jobs.values()]
        while not self._waiting.empty():
            waiting += [job for job in [self._waiting.get()] if job is not None]
        for job in waiting:
            _tell(job, RuntimeError("the engine was closed"))

    def _newcomers(self, running: int) -> list[Job] | None:
        """Who joins before the next step; waits for one where nothing runs. None: the engine is closed."""
        new: list[Job] = []
        while running + len(new) < self.max_rows and (not self._waiting.empty() or not running + len(new)):
            job = self._waiting.get()
            if job is None:
                return None
            if not job[0].cancelled:
                new.append(job)
        return new


def _tell(job: Job, error: Exception | None) -> None:
    _, future, loop = job
    with suppress(RuntimeError):  # the loop is closed: nobody waits
        loop.call_soon_threadsafe(_settle, future, error)


def _settle(future: "asyncio.Future[None]", error: Exception | None) -> None:
    if not future.done():
        future.set_result(None) if error is None else future.set_exception(error)
