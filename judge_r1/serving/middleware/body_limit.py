"""Limits of requests, and a middleware that rejects a body over the limit before it is read whole."""

from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge_r1.serving.errors import ClientDisconnected, error_response
from judge_r1.serving.middleware.auth import is_public
from judge_r1.serving.middleware.shutdown import MESSAGE, RETRY_S, Shutdown

MIB = 2**20
Rejection = tuple[int, str, int]
"""Status, message and Retry-After in seconds (0: none)."""


@dataclass(frozen=True)
class Limits:
    """Maximum bytes of one body, of one case (UTF-8) and of all bodies in memory; maximum judgments per batch and
    candidates per score request; seconds from the head of a request to the end of its body. For groups that form from
    several requests: maximum members of one, members of all that wait, and seconds that one waits for its members."""

    body: int = 4 * MIB
    case: int = 2 * MIB
    bodies: int = 256 * MIB
    batch: int = 256
    candidates: int = 16
    body_s: float = 60.0
    group: int = 64
    group_members: int = 16_384
    group_s: float = 120.0


class BodyLimitMiddleware:
    """Reads the body of every request before the app does, up to `limits`.

    On public paths it reads no body: a client without a key cannot use the memory meant for bodies.
    """

    def __init__(self, app: ASGIApp, limits: Limits, shutdown: Shutdown) -> None:
        self.app, self.limits, self.shutdown = app, limits, shutdown
        self.bytes_used = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_public(scope["path"]):
            await self.app(scope, receive, send)
            return
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        body, rejection = bytearray(), None
        try:
            if declared.isdigit() and int(declared) > self.limits.body:
                rejection = self._too_large()
            else:
                with self.shutdown.reading(self.limits.body_s) as reading:
                    rejection = await self._read(receive, body)
                if reading.cancelled_caught:
                    late = 408, f"the body did not arrive within {self.limits.body_s:g} s", 0
                    rejection = (503, MESSAGE, RETRY_S) if self.shutdown.started else late
            if rejection is None:
                await self.app(scope, _replay(bytes(body), receive), send)
            else:
                status, message, retry_s = rejection
                retry = {"Retry-After": str(retry_s)} if retry_s else {}
                answer = error_response(scope["path"], status, message, {"Connection": "close", **retry})
                await answer(scope, receive, send)
        except ClientDisconnected:
            pass
        finally:  # also if the request is cancelled while its body is read
            self.bytes_used -= len(body)

    async def _read(self, receive: Receive, body: bytearray) -> Rejection | None:
        """Fills `body`. Returns a rejection if a limit is exceeded. Raises ClientDisconnected."""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnected
            piece = message.get("body", b"")
            if len(body) + len(piece) > self.limits.body:
                return self._too_large()
            if self.bytes_used + len(piece) > self.limits.bodies:
                return 503, "the server has no memory for more request bodies: try again in 1 s", 1
            body += piece
            self.bytes_used += len(piece)
            if not message.get("more_body"):
                return None

    def _too_large(self) -> Rejection:
        return 413, f"the body exceeds the limit of {self.limits.body} bytes", 0


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body that was read, then the following messages."""
    sent = False

    async def receive_again() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
