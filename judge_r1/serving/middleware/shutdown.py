"""Refuses requests while the server shuts down, and ends the ones that do not finish in time."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge_r1.serving.errors import error_response

RETRY_S = 5
"""Retry-After of a server that shuts down."""
MESSAGE = "the server is shutting down"
_ANSWERED = {"/healthz", "/readyz", "/metrics"}
"""Paths for monitoring, which are also answered during the shutdown."""


class Shutdown:
    """Whether the server shuts down. It then waits for no more bodies."""

    def __init__(self) -> None:
        self.started = False
        self._bodies: set[anyio.CancelScope] = set()

    def start(self) -> None:
        self.started = True
        for scope in self._bodies:
            scope.cancel()

    @contextmanager
    def reading(self, seconds: float) -> Iterator[anyio.CancelScope]:
        """A block in which a body is read. It is cancelled after `seconds` and by a shutdown."""
        with anyio.move_on_after(seconds) as scope:
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

        try:
            if not self.shutdown.started:
                await self.app(scope, receive, sending)
                return
        except asyncio.CancelledError:  # the server waits no longer
            if answered or not self.shutdown.started:
                raise
        headers = {"Retry-After": str(RETRY_S), "Connection": "close"}
        await error_response(scope["path"], 503, MESSAGE, headers)(scope, receive, send)
