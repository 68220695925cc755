"""The local engine: a transformers model as a `LanguageModel` whose concurrent requests share one batch.

    model = LocalModel(causal_lm, tokenizer.decode, eos_ids, pad_id=0, max_rows=64)
    [generation] = await model.generate([GenerateRequest(prompt_ids=ids, max_tokens=100)])

`LocalModel` runs in the event loop of its caller and blocks it for one step at a time: for evaluation and rollouts.
`BackgroundModel` runs one in a thread, for servers, whose event loop must not block.
"""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any

from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.batch import ContinuousBatch, RunningRequest
from judge_r1.models.step_graph import Record

_TURNAROUND = 8
"""Rounds of the event loop after a request completes: its caller may search and ask for the next turn in them."""


class _Job(RunningRequest):
    """A request and the future of its caller."""

    def __init__(self, request: GenerateRequest, future: "asyncio.Future[None]") -> None:
        super().__init__(request)
        self.future, self.ended = future, 0.0


class LocalModel:
    """At most `max_rows` requests run at a time; others wait in order.

    The model is put in eval mode while it generates. States of earlier requests are dropped whenever nothing runs,
    because the weights may have changed before the next call; `persistent` keeps them. `min_shared` and `record` as
    for `ContinuousBatch`.
    """

    def __init__(
        self,
        model: Any,
        decode: Callable[[Sequence[int]], str],
        eos_ids: Collection[int],
        *,
        pad_id: int,
        max_rows: int,
        persistent: bool = False,
        min_shared: int | None = None,
        record: Record | None = None,
    ) -> None:
        self.batch = ContinuousBatch(model, decode, eos_ids, pad_id=pad_id, min_shared=min_shared, record=record)
        self.max_rows = max_rows
        self._model, self._persistent, self._closed = model, persistent, False
        self._waiting: deque[_Job] = deque()
        self._running: list[_Job] = []
        self._worker: asyncio.Task[None] | None = None
        self._updating, self._admitting = asyncio.Lock(), asyncio.Event()
        self._admitting.set()

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        """One generation for each request. Cancelled requests leave the batch before the next step.

        Raises:
            RuntimeError: the engine is closed.
            Exception: whatever the model raised, for every request that was in the batch.
        """
        if self._closed:
            raise RuntimeError("the engine is closed")
        started, loop = time.monotonic(), asyncio.get_running_loop()
        jobs = [_Job(request, loop.create_future()) for request in requests]
        self._waiting.extend(jobs)
        if self._worker is None or self._worker.done():
            self._worker = loop.create_task(self._work())
        try:
            for job in jobs:
                await job.future
        finally:
            for job in jobs:
                job.cancelled = job.future.cancel() or job.future.cancelled()  # a cancelled caller cancels its future
                if not job.cancelled:
                    job.future.exception()  # mark as retrieved: the first error was raised
        return [
            Generation(
                text=self.batch.stopping.decode(job.ids),
                token_ids=job.ids,
                logprobs=job.logprobs,
                alternatives=job.alternatives,
                finish_reason="length" if len(job.ids) >= job.request.max_tokens else "stop",
                usage=Usage(1, len(job.prompt), len(job.ids), job.ended - started),
            )
            for job in jobs
        ]

    async def update(self, change: Callable[[ContinuousBatch], None]) -> None:
        """Run `change`, which may replace the weights, while no request runs. Running requests are completed first and
        new ones wait, so each request is sampled from one version of the weights."""
        async with self._updating:
            self._admitting.clear()
            try:
                while self._running:
                    await asyncio.sleep(0)
                change(self.batch)
            finally:
                self._admitting.set()

    def close(self) -> None:
        """Fail all requests with a RuntimeError and accept no more."""
        self._closed = True
        self._fail(RuntimeError("the engine was closed"))
        self._admitting.set()

    async def _work(self) -> None:
        """Step the batch until nothing is left to do."""
        training = self._model.training
        if training:
            self._model.eval()
        try:
            while self._waiting or self._running:
                if not self._running:
                    await self._admitting.wait()
                complete = self._step()
                for _ in range(_TURNAROUND if complete else 1):
                    await asyncio.sleep(0)
        finally:
            if self._waiting or self._running:  # interrupted: nobody else would answer the callers
                self._fail(RuntimeError("the engine was interrupted"))
            if training:
                self._model.train()
            if not self._persistent:
                self.batch.clear()
            elif not self._running:
                self.batch.release()

    def _step(self) -> bool:
        """One step of the batch. Returns whether a request was completed."""
        try:
            self.batch.drop([job for job in self._running if job.cancelled])
            self._running = [job for job in self._running if not job.cancelled]
            if new := self._admitted():
                self._running += new
                self.batch.admit(new)
            complete = self.batch.step() if self.batch.busy else []
        except Exception as error:
            self._fail(error, running_only=True)
            return True
        for job in complete:
            assert isinstance(job, _Job)
            self._running.remove(job)
            if not job.future.done():
                job.ended = time.monotonic()
                job.future.set_result(None)
        return bool(complete)

    def _admitted(self) -> list[_Job]:
        """The waiting requests that join before the next step."""
        new: list[_Job] = []
        accepting = self._admitting.is_set() and self.batch.accepting
        while accepting and self._waiting and len(self._running) + len(new) < self.max_rows:
            if not (job := self._waiting.popleft()).cancelled:
                new.append(job)
        return new

    def _fail(self, error: Exception, *, running_only: bool = False) -> None:
        failed, self._running = self._running, []
        if not running_only:
            failed += self._waiting
            self._waiting.clear()
        self.batch.clear()
        for job in failed:
            if not job.future.done():
                job.future.set_exception(error)


class BackgroundModel:
    """Runs a `LocalModel` in a thread with an event loop. Close it, or it lives as long as its process.

    A request without an answer after `deadline_s` seconds, its wait for a row included, fails as `generation_timeout`.
    """

    def __init__(self, model: LocalModel, *, deadline_s: float | None = None) -> None:
        self.model, self._deadline_s, self._closed = model, deadline_s, False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    @property
    def batch(self) -> ContinuousBatch:
        return self.model.batch

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        """As `LocalModel.generate`."""
        if self._closed:
            raise RuntimeError("the engine is closed")
        work = asyncio.run_coroutine_threadsafe(self.model.generate(requests), self._loop)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(work), self._deadline_s)
        except asyncio.TimeoutError:  # not the builtin before Python 3.11
            # wait_for has cancelled the requests, which leave the batch before its next step.
            return [Generation(failure="generation_timeout") for _ in requests]

    def update(self, change: Callable[[ContinuousBatch], None]) -> None:
        """As `LocalModel.update`; `change` runs in the engine's thread.

        Raises:
            Exception: whatever `change` raises.
        """
        if self._closed:
            raise RuntimeError("the engine is closed")
        asyncio.run_coroutine_threadsafe(self.model.update(change), self._loop).result()

    def close(self, seconds: float = 10.0) -> None:
        """Fail all requests with a RuntimeError and stop the thread, waiting for it up to `seconds`."""
        if not self._closed:
            self._closed = True
            asyncio.run_coroutine_threadsafe(self._shut_down(), self._loop)
        self._thread.join(seconds)

    async def _shut_down(self) -> None:
        self.model.close()
        for _ in range(_TURNAROUND):  # callers that came in meanwhile
            await asyncio.sleep(0)
        self._loop.stop()
