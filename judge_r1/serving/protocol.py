"""uvicorn's HTTP protocol with limits on heads, waiting times and connections."""

import asyncio
import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_ONCE = (b"host", b"authorization")
"""Headers that a request has once: servers and proxies do not agree which of two counts."""
LINGER_S = 2.0
"""Seconds that a closed connection still reads, so that a client that sends sees the response and no reset."""
LINGER_BYTES = 16 * 2**20
"""What a closed connection reads at most."""
ARRIVED = "arrived"
"""The key in a request's state of the time when its head was complete, by the clock of the event loop."""
RETRY_S = 1
"""Retry-After of a connection over the limit."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits of the open connections, in total and from one address, of the head of one request, and of the requests
    that one connection may send ahead of a response.

    The times in seconds: `head_s` for a whole head, `idle_s` between two requests, `send_s` without progress of a
    client that reads its response, and `drain_s` for the running requests of a server that stops.
    """

    total: int = 512
    per_client: int = 256
    head_bytes: int = 32 * 1024
    headers: int = 100
    pipelined: int = 32
    head_s: float = 15.0
    idle_s: int = 5
    send_s: float = 60.0
    drain_s: float = 60.0


class LingeringTransport:
    """A transport whose `close` sends the response and the end of the stream, then discards what still arrives.

    The kernel resets a connection that is closed with unread data, and the client may then lose the response.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, send_s: float) -> None:
        self._transport, self._loop, self._send_s = transport, loop, send_s
        self._closed_at: float | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self.is_closing():
            self._transport.write(data)

    def is_closing(self) -> bool:
        return self._closed_at is not None or self._transport.is_closing()

    def close(self) -> None:
        if self.is_closing():
            return
        self._closed_at = self._loop.time()
        self._transport.write_eof()
        # Paused while the app was slow to read a body. What stays unread would reset the connection.
        self._transport.resume_reading()
        self._loop.call_later(LINGER_S, self._finish)

    def _finish(self) -> None:
        assert self._closed_at is not None
        if self._transport.get_write_buffer_size() and self._loop.time() < self._closed_at + self._send_s:
            self._loop.call_later(LINGER_S, self._finish)
        else:
            self._transport.abort()


class LimitedProtocol(HttpToolsProtocol):
    """Refuses with a sentence, and closes the connection: 400, 408 (slow head), 431 (long head), 503 (connections).

    Its parser is httptools, which reads hostile input many times faster than h11.
    """

    limits = ConnectionLimits()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_timer: asyncio.TimerHandle | None = None
        self._send_timer: asyncio.TimerHandle | None = None
        self._head_bytes = self._headers = self._unparsed = self._discarded = 0
        self._once: set[bytes] = set()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(LingeringTransport(transport, self.loop, self.limits.send_s))  # type: ignore[arg-type]
        # A refused connection lingers to deliver its sentence. A flood of them gets none.
        if len(self.connections) > 2 * self.limits.total:
            transport.abort()
        elif len(self.connections) > self.limits.total:
            self._refuse(503, f"the server has {self.limits.total} connections: try again in {RETRY_S} s")
        elif sum(other.host == self.host for other in self.connections) > self.limits.per_client:  # type: ignore[union-attr]
            limit = self.limits.per_client
            self._refuse(503, f"your address has {limit} connections: close some, or try again in {RETRY_S} s")
        else:
            self._expect_head()

    @property
    def host(self) -> str:
        return self.client[0] if self.client else ""

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            self._discarded += len(data)
            if self._discarded > LINGER_BYTES:
                self.transport.abort()
            return
        self._unparsed += len(data)  # set to 0 by the parser's callbacks
        super().data_received(data)
        if self._unparsed > self.limits.head_bytes:
            self._refuse_head()
        elif self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._expect_head()

    def on_message_begin(self) -> None:
        self._head_bytes = self._headers = self._unparsed = 0
        self._once.clear()
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers += 1
        self._count(len(name) + len(value) + len(": \r\n"))
        if (lower := name.lower()) in _ONCE:
            if lower in self._once:
                self._refuse(400, f"the request has two headers `{lower.decode()}`: send one")
                raise ValueError("a header is repeated")
            self._once.add(lower)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._stop_head_timer()
        if b"host" not in self._once and self.parser.get_http_version() == "1.1":
            self._refuse(400, "the request has no header `host`: send one")
            raise ValueError("there is no Host")
        if len(self.pipeline) >= self.limits.pipelined:
            self._refuse(400, f"more than {self.limits.pipelined} requests wait for the response of an earlier one")
            raise ValueError("the pipeline is too long")
        self.scope["state"][ARRIVED] = self.loop.time()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and self.cycle.more_body:  # nobody reads the rest of the body
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "the request is not valid HTTP/1.1")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._send_timer = self._send_timer or self.loop.call_later(self.limits.send_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None

    def shutdown(self) -> None:
        # uvicorn closes a connection without a request in silence, and its client may be about to send one.
        if self.cycle is None:
            self._refuse(503, "the server is shutting down")
        else:
            super().shutdown()

    def _count(self, size: int) -> None:
        """Counts bytes of the head, and of trailers after the body."""
        self._unparsed = 0
        self._head_bytes += size
        if self._head_bytes > self.limits.head_bytes or self._headers > self.limits.headers:
            self._refuse_head()
            raise ValueError("the head is too large")  # stops the parser

    def _expect_head(self) -> None:
        """Starts the time for the head of the next request."""
        self._stop_head_timer()
        self._head_timer = self.loop.call_later(self.limits.head_s, self._head_timeout)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_timeout(self) -> None:
        self._refuse(408, f"the head of the request did not arrive within {self.limits.head_s:g} s")

    def _refuse_head(self) -> None:
        limits = self.limits
        self._refuse(
            431, f"the head of the request exceeds the limit of {limits.headers} headers or {limits.head_bytes} bytes"
        )

    def _refuse(self, status: int, message: str) -> None:
        self._stop_head_timer()
        body = json.dumps({"error": message}).encode()
        retry = f"Retry-After: {RETRY_S}\r\n" if status == 503 else ""
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n{retry}Connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
