"""The HTTP interface of a shared retriever.

    POST /search   {"k": 3, "requests": [["case id", "query"], …], "timeout_s": 30, "passage_words": 100}
                   → {"results": [{"case_id": …, "hits": [[index, start, end, score, text], …]}, …]}, in that order
                   `passage_words` is optional: another number than the server's is refused
    GET  /healthz  {"ready": true, "waiting": 0, "answered": …, …}; needs no token

Errors are `{"error": name, "message": sentence}`: 400 and 422 for a request that is not valid (no key, Host or
Authorization may be repeated), 401 without the token, 413 for a body over the limit, 503 with `Retry-After` if too
many searches wait or the server is closing, and 504 for a search that takes too long.
"""

import asyncio
import hmac
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from retrieval.errors import QueueFull, RetrievalError, SearchTimeout, ServerClosing
from retrieval.server.queue import SearchQueue

MAX_BODY, MAX_REQUESTS, MAX_K = 4 * 2**20, 4096, 1000
MAX_SECONDS = 300.0
MAX_DISCARDED, DISCARD_S = 16 * 2**20, 2.0
"""Bytes and seconds of a body that is read only so that the client gets the answer."""
RETRY_S = 1
_ONCE = ("Host", "Authorization")
"""Headers that a proxy in front of the server may read differently if they are repeated."""
_log = logging.getLogger(__name__)


class BadRequest(Exception):
    """A request that is not valid. `status` is that of the answer."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class _Unread:
    """Reads the rest of a request before its answer, up to a limit. The kernel resets a connection that is closed with
    unread data, and the client may lose the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        more = all(name != b"expect" for name, _ in scope["headers"])  # it sends the body only if it is asked to

        async def receive_one() -> Message:
            nonlocal more
            message = await receive()
            more = bool(message.get("more_body"))
            return message

        async def read_rest() -> None:
            size = 0
            while more and size <= MAX_DISCARDED:
                size += len((await receive_one()).get("body", b""))

        async def send_one(message: Message) -> None:
            if message["type"] == "http.response.start":
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(read_rest(), DISCARD_S)
            await send(message)

        await self._app(scope, receive_one, send_one)


def create_app(queue: SearchQueue, token: str | None = None) -> Starlette:
    """The app over a queue. With `token`, every search must send it as `Authorization: Bearer TOKEN`."""

    async def search(request: Request) -> Response:
        if twice := next((name for name in _ONCE if len(request.headers.getlist(name)) > 1), None):
            return _error(400, "BadRequest", f"the header {twice} is repeated: send it once")
        if token is not None and not _authorized(request, token):
            return _error(401, "Unauthorized", "a token is required: send it as `Authorization: Bearer TOKEN`")
        try:
            k, requests, seconds = _read(await _body(request), getattr(queue.retriever, "passage_words", None))
            found = await queue.search(requests, k, seconds)
        except BadRequest as error:
            return _error(error.status, "BadRequest", str(error))
        except (QueueFull, ServerClosing) as error:
            # A kept connection would bring the next attempt to the closing server again.
            headers = {"Retry-After": str(RETRY_S)} | ({"Connection": "close"} if queue.closing else {})
            return _error(503, type(error).__name__, str(error), headers)
        except SearchTimeout as error:
            return _error(504, "SearchTimeout", str(error))
        except RetrievalError as error:
            return _error(422, type(error).__name__, str(error))
        except ClientDisconnect:
            return Response(status_code=499)
        except Exception:
            _log.exception("a search failed")
            return _error(500, "InternalError", "the search failed: the log of the server says why")
        return JSONResponse(
            {
                "results": [
                    {"case_id": case_id, "hits": [[p.index, p.start, p.end, score, p.text] for p, score in hits]}
                    for (case_id, _), hits in zip(requests, found, strict=True)
                ]
            }
        )

    async def health(request: Request) -> Response:
        ready = not queue.closing
        return JSONResponse({"ready": ready, "waiting": queue.waiting, **queue.counts}, 200 if ready else 503)

    routes = [Route("/search", search, methods=["POST"]), Route("/healthz", health)]
    return Starlette(routes=routes, middleware=[Middleware(_Unread)])


def _authorized(request: Request, token: str) -> bool:
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    # As bytes, since compare_digest refuses texts with other characters than ASCII.
    return kind.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), token.encode())


async def _body(request: Request) -> bytes:
    declared = request.headers.get("content-length", "0")
    body = bytearray()
    # The declared length only saves the reading. What counts is what arrives.
    if not declared.isdigit() or int(declared) <= MAX_BODY:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY:
                break
        else:
            return bytes(body)
    raise BadRequest(f"the body exceeds the limit of {MAX_BODY} bytes: send fewer searches in one request", 413)


def _read(body: bytes, passage_words: int | None = None) -> tuple[int, list[tuple[str, str]], float]:
    """k, the requests and the seconds of a body. `passage_words` are the server's. Raises BadRequest."""
    try:
        content = json.loads(body, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not valid JSON: {error}") from None
    if not isinstance(content, Mapping):
        raise BadRequest("the body must be a JSON object with `requests` and `k`")
    if unknown := sorted(set(content) - {"k", "requests", "timeout_s", "passage_words"}):
        fields = "k, requests, timeout_s and passage_words"
        raise BadRequest(f"unknown field {unknown[0]!r}: the fields are {fields}", 422)
    if (words := content.get("passage_words", passage_words)) != passage_words:
        raise BadRequest(
            f"the server's passages have {passage_words} words, not {words}: start it with --passage-words {words}, or "
            "change episode.budget.passage_words",
            422,
        )
    k, requests, seconds = content.get("k"), content.get("requests"), content.get("timeout_s", 30.0)
    if type(k) is not int or not 1 <= k <= MAX_K:
        raise BadRequest(f"k must be a whole number from 1 to {MAX_K}", 422)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= MAX_SECONDS:
        raise BadRequest(f"timeout_s must be a number of seconds over 0, at most {MAX_SECONDS:g}", 422)
    if not isinstance(requests, list) or not 1 <= len(requests) <= MAX_REQUESTS:
        raise BadRequest(f"requests must be a list of 1 to {MAX_REQUESTS} pairs [case id, query]", 422)
    for number, pair in enumerate(requests):
        if not _is_pair(pair):
            raise BadRequest(f"requests[{number}] must be a pair of texts [case id, query]", 422)
    return k, [(case_id, query) for case_id, query in requests], float(seconds)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for name, value in pairs:
        if name in content:
            raise ValueError(f"it repeats the key {name!r}")
        content[name] = value
    return content


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)


def _error(status: int, name: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"error": name, "message": message}, status, dict(headers or {}))
