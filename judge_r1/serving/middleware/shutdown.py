"""Refuses requests that arrive while the server shuts down, and ends the ones that do not finish in time."""

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge_r1.serving.errors import error_response
from judge_r1.serving.protocol import ARRIVED

RETRY_S = 5
"""Retry-After of a server that shuts down."""
BODY_S = 1.0
"""Seconds that a server which shuts down waits for the rest of a body."""
MESSAGE = "the server is shutting down"
_ANSWERED = {"/healthz", "/readyz", "/metrics"}
"""Paths for monitoring, which are also answered during the shutdown."""


class Shutdown:
    """Whether the server shuts down. `accepted` counts the requests that are answered, and `running` those of them that
    still run. `on_start` is called once, when the shutdown starts."""

    def __init__(self) -> None:
        self.accepted = self.running = 0
        self._started_at = math.inf
        self._bodies: set[anyio.CancelScope] = set()
        self.on_start: Callable[[], None] = lambda: None

    @property
    def started(self) -> bool:
        return self._started_at < math.inf

    def start(self) -> None:
        self._started_at = now = anyio.current_time()
        for scope in self._bodies:
            scope.deadline = min(scope.deadline, now + BODY_S)
        self.on_start()

    def refuses(self, scope: Scope) -> bool:
        """Whether the request arrived after the start of the shutdown. One that was sent ahead on its connection
        (pipelining) may have arrived before it."""
        return self.started and scope.get("state", {}).get(ARRIVED, math.inf) > self._started_at

    @contextmanager
    def reading(self, seconds: float) -> Iterator[anyio.CancelScope]:
        """A block in which a body is read. It is cancelled after `seconds`, and soon by a shutdown."""
        with anyio.move_on_after(min(seconds, BODY_S) if self.started else seconds) as scope:
            self._bodies.add(scope)
            try:
                yield scope
            finally:
                self._bodies.remove(scope)


class ShutdownMiddleware:
    def __init__(self, app: ASGIApp, shutdown: Shutdown) -> None:
        self.app, self.shutdown = app, shutdown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _ANSWERED:
            await self.app(scope, receive, send)
            return
        answered = False

        async def sending(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        if not self.shutdown.refuses(scope):
            self.shutdown.accepted += 1
            self.shutdown.running += 1
            try:
                await self.app(scope, receive, sending)
                return
            except asyncio.CancelledError:  # the server waits no longer
                if answered or not self.shutdown.started:
                    raise
            finally:
                self.shutdown.running -= 1
        headers = {"Retry-After": str(RETRY_S), "Connection": "close"}
        await error_response(scope["path"], 503, MESSAGE, headers)(scope, receive, send)
