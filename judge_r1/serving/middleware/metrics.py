"""What is counted, in Prometheus' form; names begin with `judge_r1_`."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge_r1.core.case_store import CaseStore
from judge_r1.core.records import PairwiseVerdict
from judge_r1.judges.base import JudgeOutput
from judge_r1.serving.errors import TooLong
from judge_r1.serving.queue import BackendFailed, DeadlineExceeded, QueueFull, RequestQueue, ShuttingDown

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_KINDS: dict[type[BaseException], str] = {
    QueueFull: "busy",
    ShuttingDown: "closing",
    DeadlineExceeded: "too_late",
    BackendFailed: "lost",
    TooLong: "prompt_too_long",
    asyncio.CancelledError: "client_left",
}


class Metrics:
    """One registry for one app."""

    def __init__(self, desk: RequestQueue, shelf: CaseStore) -> None:
        self.registry = here = CollectorRegistry()
        self._gauge("games_running", "Games under way.", lambda: desk.now_running)
        self._gauge("games_waiting", "Games in the queue.", lambda: desk.now_waiting)
        self._gauge("cases", "Cases on the shelf.", lambda: len(shelf))
        self._gauge("case_bytes", "Bytes of the cases on the shelf.", lambda: shelf.bytes)
        self.waits = Histogram("judge_r1_wait_seconds", "Wait of a game in the queue.", buckets=SECONDS, registry=here)
        self._games = Histogram(
            "judge_r1_game_seconds", "A game that was played, with its wait.", buckets=SECONDS, registry=here
        )
        self._ends = Counter("judge_r1_games", "Games by how they ended.", ["outcome"], registry=here)
        self._tokens = Counter("judge_r1_tokens", "Read (in every turn) and written.", ["kind"], registry=here)
        self.requests = Counter("judge_r1_requests", "By route and status.", ["route", "status"], registry=here)
        self.traces_lost = Counter("judge_r1_traces_lost", "Games whose trace could not be written.", registry=here)
        desk.waited = self.waits.observe

    def text(self) -> bytes:
        return generate_latest(self.registry)

    @contextmanager
    def request(self) -> Iterator[Callable[[JudgeOutput], None]]:
        """Counts one game: by what it is told of it, or by what is raised."""
        started, told = time.monotonic(), False

        def ended(played: JudgeOutput) -> None:
            nonlocal told
            told = True
            verdict = played.verdict
            self._ends.labels(verdict.winner if isinstance(verdict, PairwiseVerdict) else "invalid").inc()
            self._games.observe(time.monotonic() - started)
            for kind in ("input", "output"):
                self._tokens.labels(kind).inc((played.usage or {}).get(f"{kind}_tokens", 0))

        try:
            yield ended
        except BaseException as error:
            if not told:
                self._ends.labels(_KINDS.get(type(error), "error")).inc()
            raise

    def _gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        Gauge(f"judge_r1_{name}", about, registry=self.registry).set_function(value)


class MetricsMiddleware:
    """Counts requests by the route that took them ("none": it came to no route) and their status."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 499

        async def counting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, counting)
        except Exception:  # what the client is told is made of it further out (`problems`)
            status = 500
            raise
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self.metrics.requests.labels(route, str(status)).inc()
