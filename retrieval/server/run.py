"""Runs the app of a shared retriever on a socket until SIGTERM or SIGINT."""

import asyncio
import signal
import socket
from typing import Any

import uvicorn

from retrieval.server.app import create_app
from retrieval.server.queue import QueueLimits, Searcher, SearchQueue
from retrieval.signals import signal_handlers

LOOPBACK = ("127.0.0.1", "localhost", "::1")
REFUSE_S = 0.2
"""Seconds that a closing server refuses new searches at least, instead of resetting their connections."""
DRAIN_S = 30


class RetrievalServer(uvicorn.Server):
    """A server that answers the searches that wait before it stops."""

    def __init__(self, config: uvicorn.Config, queue: SearchQueue) -> None:
        super().__init__(config)
        self.queue = queue

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in self.servers:
            listening.close()  # connections that come now reach the server that was started meanwhile
        # `wait` instead of `wait_for`: after the timeout the searches that run are not cancelled.
        await asyncio.wait([asyncio.ensure_future(self.queue.close())], timeout=DRAIN_S)
        await asyncio.sleep(REFUSE_S)
        await super().shutdown(sockets)


def make_server(
    retriever: Searcher, *, token: str | None = None, limits: QueueLimits | None = None, **options: Any
) -> RetrievalServer:
    """A server that `serve` or a test runs; `options` are those of `uvicorn.Config`."""
    queue = SearchQueue(retriever, limits)
    config = uvicorn.Config(
        create_app(queue, token),
        log_level="warning",
        access_log=False,
        ws="none",
        lifespan="off",
        timeout_graceful_shutdown=DRAIN_S,
        **options,
    )
    return RetrievalServer(config, queue)


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address that another server may have, too: so a server is replaced without a pause."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "SO_REUSEPORT"):
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listening.bind((host, port))
    except OSError:
        listening.close()
        raise
    return listening


def serve(retriever: Searcher, host: str, port: int, token: str | None = None) -> None:
    """Serves until SIGTERM or SIGINT, then answers the searches that wait."""
    server = make_server(retriever, token=token)
    # uvicorn raises the signal again after shutdown; that must not kill a process that stopped in order
    with signal_handlers(lambda *_: None, signal.SIGTERM, signal.SIGINT):
        server.run(sockets=[listen(host, port)])
