"""Prometheus metrics; their names start with `judge_r1_`."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge_r1.core.case_store import CaseStore
from judge_r1.core.verdicts import PairwiseVerdict
from judge_r1.judges.base import JudgeOutput
from judge_r1.serving.errors import PromptTooLong
from judge_r1.serving.queue import BackendFailed, DeadlineExceeded, QueueFull, RequestQueue, ShuttingDown

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_KINDS: dict[type[BaseException], str] = {
    QueueFull: "busy",
    ShuttingDown: "closing",
    DeadlineExceeded: "too_late",
    BackendFailed: "lost",
    PromptTooLong: "prompt_too_long",
    asyncio.CancelledError: "client_left",
}


class Metrics:
    """The metrics of one app, in their own registry."""

    def __init__(self, queue: RequestQueue, cases: CaseStore, members: Callable[[], float]) -> None:
        self.registry = registry = CollectorRegistry()
        self._gauge("group_members", "Members of groups that wait for their scores.", members)
        self._gauge("judgments_running", "Requests that run.", lambda: queue.running)
        self._gauge("judgments_waiting", "Requests in the queue.", lambda: queue.waiting)
        self._gauge("cases", "Cases in the store.", lambda: len(cases))
        self._gauge("case_bytes", "Bytes of the cases in the store.", lambda: cases.bytes)
        self.waits = Histogram(
            "judge_r1_wait_seconds", "Wait of a request in the queue.", buckets=SECONDS, registry=registry
        )
        self._durations = Histogram(
            "judge_r1_judgment_seconds",
            "Duration of a judged request, with its wait.",
            buckets=SECONDS,
            registry=registry,
        )
        self._outcomes = Counter("judge_r1_judgments", "Requests by outcome.", ["outcome"], registry=registry)
        self._tokens = Counter(
            "judge_r1_tokens", "Tokens read (in every turn) and written.", ["kind"], registry=registry
        )
        self.requests = Counter(
            "judge_r1_requests", "HTTP requests by route and status.", ["route", "status"], registry=registry
        )
        self.group_scores = Counter(
            "judge_r1_group_scores", "Members of groups by outcome.", ["outcome"], registry=registry
        )
        self.traces_lost = Counter(
            "judge_r1_traces_lost", "Requests whose trace could not be written.", registry=registry
        )
        queue.observe_wait = self.waits.observe

    def text(self) -> bytes:
        return generate_latest(self.registry)

    @contextmanager
    def request(self) -> Iterator[Callable[[JudgeOutput], None]]:
        """Counts one request: by the output given to the yielded function, or by the exception raised."""
        started, recorded = time.monotonic(), False

        def record(output: JudgeOutput) -> None:
            nonlocal recorded
            recorded = True
            verdict = output.verdict
            self._outcomes.labels(verdict.winner if isinstance(verdict, PairwiseVerdict) else verdict.kind).inc()
            self._durations.observe(time.monotonic() - started)
            for kind in ("input", "output"):
                self._tokens.labels(kind).inc((output.usage or {}).get(f"{kind}_tokens", 0))

        try:
            yield record
        except BaseException as error:
            # Also CancelledError, which is no Exception: the client has left.
            if not recorded:
                self._outcomes.labels(_KINDS.get(type(error), "error")).inc()
            raise

    def _gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        Gauge(f"judge_r1_{name}", about, registry=self.registry).set_function(value)


class MetricsMiddleware:
    """Counts requests by route ("none" if no route matches) and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # Stays where no response begins, because the client has left.
        status = 499

        async def counting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, counting)
        except Exception:  # an outer error handler writes the response
            status = 500
            raise
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self.metrics.requests.labels(route, str(status)).inc()
