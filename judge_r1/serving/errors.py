"""Why a request has no answer: a status and one sentence, in our form or in OpenAI's."""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException

from judge_r1.core.case_store import CaseStoreFull
from judge_r1.core.endpoint import EndpointError
from judge_r1.core.errors import JudgeError
from judge_r1.core.wire import Refusal
from judge_r1.serving.local_case_store import CasesAway
from judge_r1.serving.queue import BackendFailed, DeadlineExceeded, QueueFull, ShuttingDown
from judge_r1.serving.schemas import Unjudged

OPENAI = ("/v1/chat/", "/v1/models")
"""Addresses that answer as OpenAI's do, problems included."""
_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
_MEANS = {
    400: "a request that cannot be understood; the message has an example",
    401: "a key is needed",
    404: "there is no such case or model",
    408: "the body did not come in time",
    413: "the body, the case or the batch is larger than may be",
    422: "a field is wrong, or the prompt is longer than the judge reads",
    429: "the queue is full, or the key has asked for more than it may: come again after Retry-After seconds",
    502: "the judge's backend gave no answer",
    503: "the server is going away, or holds all that it can",
    504: "no judgment before the deadline",
}
_log = logging.getLogger(__name__)
FAILED = "the server failed"
"""What is told of an error that nobody foresaw."""
SHELF_S = 5
"""When to come again where all cases on the shelf are in use, or those that were put cannot be asked for."""


class ClientLeft(Exception):
    """Nobody is there to take the answer."""


class TooLong(Exception):
    """A prompt of `tokens` where the judge reads `limit`."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(
            f"the prompt has {tokens} tokens and this judge takes {limit}: shorten the context or the candidates"
        )
        self.tokens, self.limit = tokens, limit


STATUS: Mapping[type[Exception], int] = {
    QueueFull: 429,
    ShuttingDown: 503,
    DeadlineExceeded: 504,
    BackendFailed: 502,
    TooLong: 422,
    ClientLeft: 499,
    CaseStoreFull: 503,
    CasesAway: 503,
    EndpointError: 502,
    JudgeError: 422,
}
"""The status of each; of a subclass its own one."""
NO_JUDGMENT: tuple[type[Exception], ...] = (*STATUS, HTTPException)
"""What may come instead of a judgment."""


_UNREAD = "There was an error parsing the body"
"""What FastAPI says where reading the JSON fails by anything but its form."""
ANYWHERE = (401, 408, 413, 422, 503)
"""What may become of any request that has a key and a body."""


def documented(*statuses: int, model: type[BaseModel] = Refusal) -> dict[int | str, dict[str, Any]]:
    """These problems and those that may happen anywhere, for the OpenAPI document."""
    return {status: {"model": model, "description": _MEANS[status]} for status in sorted({*ANYWHERE, *statuses})}


PROBLEMS = documented(400, 404, 429, 502, 504)
"""What may become of a request for judgments."""


def problem(
    path: str, status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    message = readable(message)
    if path.startswith(OPENAI):
        kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
        error: dict[str, Any] = {"message": message, "type": kind, "param": None, "code": status, **more}
        return JSONResponse({"error": error}, status, headers)
    return JSONResponse({"error": message, **more}, status, headers)


def sentence(error: Exception) -> str:
    """What the client is told."""
    return readable(str(error.detail if isinstance(error, StarletteHTTPException) else error))


def readable(text: str) -> str:
    """Without halves of characters, which no answer can be written with."""
    return text.encode("utf-8", "replace").decode()


def client_message(error: Exception) -> str:
    """What the client is told of an error in the middle of an answer; one that nobody foresaw is for the log."""
    if isinstance(error, NO_JUDGMENT):
        return sentence(error)
    _log.error("a game failed", exc_info=error)
    return FAILED


def unjudged(error: Exception) -> Unjudged:
    """What stands in the place of a judgment in a batch."""
    status = error.status_code if isinstance(error, StarletteHTTPException) else _status(error)
    return Unjudged(error=client_message(error), status=status, **_tokens(error))


def _status(error: Exception) -> int:
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def _tokens(error: Exception) -> dict[str, int]:
    return {"tokens": error.tokens, "limit": error.limit} if isinstance(error, TooLong) else {}


def add_problems(app: FastAPI) -> None:
    async def without_judgment(request: Request, error: Exception) -> JSONResponse:
        headers = {"Retry-After": str(error.seconds)} if isinstance(error, QueueFull) else {}
        if isinstance(error, CaseStoreFull | CasesAway):
            headers = {"Retry-After": str(SHELF_S)}
        return problem(request.url.path, _status(error), str(error), headers, **_tokens(error))

    def unreadable(request: Request, message: str) -> JSONResponse:
        return problem(request.url.path, 400 if request.url.path.startswith(OPENAI) else 422, message)

    async def refused(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, StarletteHTTPException)
        if error.detail == _UNREAD:
            return unreadable(request, "the body cannot be read as JSON: is it UTF-8, not compressed, of few levels?")
        return problem(request.url.path, error.status_code, str(error.detail), error.headers)

    async def malformed(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        return unreadable(request, _mistake(first["type"], first["loc"], first["msg"]))

    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        return problem(request.url.path, 500, FAILED)  # what it was is in the log

    app.add_exception_handler(Exception, unforeseen)
    for kind in STATUS:
        app.add_exception_handler(kind, without_judgment)
    app.add_exception_handler(StarletteHTTPException, refused)
    app.add_exception_handler(RequestValidationError, malformed)


def _mistake(kind: str, where: tuple[str | int, ...], message: str) -> str:
    """What FastAPI found in a request, as a sentence."""
    if kind == "json_invalid":
        return f"the body is not JSON: it cannot be read from character {where[-1]} on"
    if where == ("body",) and kind in ("missing", "model_attributes_type"):
        return "the body must be a JSON object, sent with the header `Content-Type: application/json`"
    return f"{'.'.join(map(str, where[1:])) or 'the body'}: {message.removeprefix('Value error, ')}"
