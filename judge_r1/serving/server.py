"""Runs the app on a socket until SIGTERM or SIGINT, then finishes the requests that run."""

import asyncio
import math
import signal
import socket
from typing import Any

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

from judge_r1.core.endpoint import LOOPBACK
from judge_r1.serving.app import create_app
from judge_r1.serving.middleware.shutdown import Shutdown
from judge_r1.serving.protocol import LINGER_S, ConnectionLimits, LimitedProtocol
from judge_r1.serving.service import Service
from retrieval.signals import signal_handlers

REFUSE_S = 0.5
"""Seconds that a stopping server refuses new requests at least, instead of resetting their connections."""
QUIET_TURNS = 8
"""Turns of the event loop in which a connection that the kernel holds is accepted, read, and its request started."""


class JudgeServer(uvicorn.Server):
    """A server that stops in order: it answers every request that has arrived, and refuses new ones with 503."""

    def __init__(self, config: uvicorn.Config, limits: ConnectionLimits, shutdown: Shutdown) -> None:
        super().__init__(config)
        self._drain_s, self._shutdown = limits.drain_s, shutdown

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + self._drain_s
        await self._accept_arrived(until)
        self._shutdown.start()
        await asyncio.sleep(REFUSE_S)
        while self._running() and not self.force_exit and loop.time() < until:
            await asyncio.sleep(0.02)
        await super().shutdown(sockets)

    async def _accept_arrived(self, until: float) -> None:
        """Accepts the connections and requests that the kernel holds, until some turns of the loop bring no other."""
        state, turns, before = self.server_state, 0, (0, 0)
        while turns < QUIET_TURNS and asyncio.get_running_loop().time() < until:
            # Each turn, the loop accepts and reads what the kernel holds.
            await asyncio.sleep(0)
            now = self._shutdown.accepted, len(state.connections)
            turns, before = turns + 1 if now == before else 0, now

    def _running(self) -> bool:
        """Whether an accepted request has no answer. A pipelined one waits for the one before it."""
        return self._shutdown.running > 0 or any(one.pipeline for one in self.server_state.connections)  # type: ignore[union-attr]


def make_server(
    service: Service, host: str = "127.0.0.1", port: int = 0, limits: ConnectionLimits | None = None, **options: Any
) -> JudgeServer:
    """The server of `run_app`; `options` are those of `uvicorn.Config`.

    Without keys it answers only requests to loopback host names. That blocks DNS rebinding: a web page whose host name
    resolves to this machine.
    """
    app: ASGIApp = create_app(service)
    if service.keys is None:
        app = TrustedHostMiddleware(app, allowed_hosts=[*LOOPBACK, "[::1]"])
    limits = limits or ConnectionLimits()
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        # uvicorn creates the protocol from its class, so the limits are an attribute of a class.
        http=type("Protocol", (LimitedProtocol,), {"limits": limits}),
        ws="none",
        timeout_keep_alive=limits.idle_s,
        # The requests are answered by then (`shutdown`). What is left are connections that linger.
        timeout_graceful_shutdown=math.ceil(LINGER_S) + 1,
        server_header=False,
        **options,
    )
    return JudgeServer(config, limits, service.shutdown)


def run_app(service: Service, host: str, port: int, limits: ConnectionLimits | None = None) -> None:
    """Serves until SIGTERM or SIGINT and returns when the running requests are answered."""
    server = make_server(service, host, port, limits)
    # uvicorn raises the signal again after shutdown; that must not kill a process that stopped in order
    with signal_handlers(lambda *_: None, signal.SIGTERM, signal.SIGINT):
        server.run()
