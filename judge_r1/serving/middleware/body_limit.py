"""What a request may be, and a body that is refused before it is read whole."""

import asyncio
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from judge_r1.serving.errors import problem
from judge_r1.serving.middleware.auth import is_open

BODY_S = 60.0
"""Deadline of a request's body, from its head on."""
MIB = 2**20


@dataclass(frozen=True)
class Limits:
    """Bytes of one body, of one case (UTF-8) and of all bodies that are held at a time; judgments in one request, and
    candidates in one that scores them."""

    body: int = 4 * MIB
    case: int = 2 * MIB
    bodies: int = 256 * MIB
    batch: int = 256
    candidates: int = 16


class BodyLimitMiddleware:
    """Reads the body of every request before the app sees it, no more of it than `limits` say. At addresses that are
    open to all no body is read: nobody without a key can hold the memory of those who have one."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_open(scope["path"]):
            await self.app(scope, receive, send)
            return
        told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        body, refused = bytearray(), None
        if told.isdigit() and int(told) > self.limits.body:
            refused = self._too_large()
        try:
            try:
                if refused is None:
                    refused = await asyncio.wait_for(self._read(receive, body), BODY_S)
            except asyncio.TimeoutError:  # not the builtin before Python 3.11
                refused = 408, f"the body was not here after {BODY_S:g} s"
            except ConnectionError:
                return
            if refused is None:
                await self.app(scope, _again(bytes(body), receive), send)
            else:
                status, message = refused
                retry = {"Retry-After": "1"} if status == 503 else {}
                answer = problem(scope["path"], status, message, {"Connection": "close", **retry})
                await answer(scope, receive, send)
        finally:  # also where the request is cancelled while it is read
            self.held -= len(body)

    async def _read(self, receive: Receive, body: bytearray) -> tuple[int, str] | None:
        """Fills `body`; what is wrong with it, if anything is. Errors: ConnectionError where the client leaves."""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError
            piece = message.get("body", b"")
            if len(body) + len(piece) > self.limits.body:
                return self._too_large()
            if self.held + len(piece) > self.limits.bodies:
                return 503, "the server holds as many request bodies as it may: try again in 1 s"
            body += piece
            self.held += len(piece)
            if not message.get("more_body"):
                return None

    def _too_large(self) -> tuple[int, str]:
        return 413, f"the body is over the {self.limits.body} bytes that a request may have"


def _again(body: bytes, receive: Receive) -> Receive:
    """What hands on a body that was read, and after that whatever comes."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
