"""Error responses: a status and one sentence, in our format or in OpenAI's."""

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
from judge_r1.core.text_check import valid_utf8
from judge_r1.core.wire import ErrorResponse
from judge_r1.rewards.collector import CollectorFull, JudgmentFailed
from judge_r1.serving.queue import BackendFailed, DeadlineExceeded, QueueFull, ShuttingDown
from judge_r1.serving.replicated_case_store import CaseStoreUnavailable
from judge_r1.serving.schemas import BatchError, field_message
from judge_r1.serving.unpacking import UnpackingBusy

OPENAI = ("/v1/chat/", "/v1/models")
"""Paths whose errors have OpenAI's format."""
_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
_DESCRIPTIONS = {
    400: "the request cannot be read; the message has an example",
    401: "an API key is required",
    404: "there is no such case or model",
    408: "the body did not arrive in time",
    413: "the body, the case or the batch exceeds the limit",
    422: "a field is not valid, or the prompt is longer than the judge's limit",
    429: "the queue is full, or the key exceeds its rate limit: retry after Retry-After seconds",
    502: "the judge's backend gave no answer, or a member of a group has no valid comparison",
    503: "the server is shutting down, or its memory limits are reached",
    504: "no judgment before the deadline",
}
_log = logging.getLogger(__name__)
FAILED = "the server failed"
"""The message of an unexpected error. Its details are only logged."""
CASE_STORE_RETRY_S = 5
"""Retry-After if all stored cases are in use, the store of uploaded cases does not respond, too many members of groups
wait, or other uploads are being unpacked."""


NO_RETRY = {"x-should-retry": "false"}
"""A header of 504: the server has spent its whole deadline on the request. Without it, OpenAI's clients repeat it."""


class ClientDisconnected(Exception):
    """The client has closed the connection."""


class PromptTooLong(Exception):
    """A prompt of `tokens` tokens exceeds the judge's `limit`."""

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(
            f"the prompt has {tokens} tokens, and the judge's limit is {limit}: shorten the context or the candidates"
        )
        self.tokens, self.limit = tokens, limit


STATUS: Mapping[type[Exception], int] = {
    QueueFull: 429,
    ShuttingDown: 503,
    DeadlineExceeded: 504,
    BackendFailed: 502,
    PromptTooLong: 422,
    ClientDisconnected: 499,
    CaseStoreFull: 503,
    CaseStoreUnavailable: 503,
    CollectorFull: 503,
    UnpackingBusy: 503,
    JudgmentFailed: 502,
    EndpointError: 502,
    JudgeError: 422,
}
"""HTTP status by exception type; the most specific type counts."""
NO_JUDGMENT: tuple[type[Exception], ...] = (*STATUS, HTTPException)
"""Everything that a request for a judgment may raise on purpose."""

COMMON = (401, 408, 413, 422, 503)
"""Statuses of every route that needs a key and a body."""


def documented_errors(*statuses: int, model: type[BaseModel] = ErrorResponse) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI documentation of these statuses and the common ones."""
    return {status: {"model": model, "description": _DESCRIPTIONS[status]} for status in sorted({*COMMON, *statuses})}


JUDGE_ERRORS = documented_errors(400, 404, 429, 502, 504)
"""Documented errors of routes that judge."""


def error_response(
    path: str, status: int, message: str, headers: Mapping[str, str] | None = None, **more: Any
) -> JSONResponse:
    message = valid_utf8(message)
    headers = {**(headers or {}), **(NO_RETRY if status == 504 else {})}
    if path.startswith(OPENAI):
        kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
        error: dict[str, Any] = {"message": message, "type": kind, "param": None, "code": status, **more}
        return JSONResponse({"error": error}, status, headers)
    return JSONResponse({"error": message, **more}, status, headers)


def invalid_body_status(path: str) -> int:
    return 400 if path.startswith(OPENAI) else 422


def client_message(error: Exception) -> str:
    """The message for an error inside a stream or batch. Unexpected errors are logged and not disclosed."""
    if isinstance(error, NO_JUDGMENT):
        return valid_utf8(str(error.detail if isinstance(error, StarletteHTTPException) else error))
    _log.error("a request failed", exc_info=error)
    return FAILED


def batch_error(error: Exception) -> BatchError:
    """The entry of a failed request in a batch."""
    status = error.status_code if isinstance(error, StarletteHTTPException) else _status(error)
    return BatchError(error=client_message(error), status=status, **_tokens(error))


def _status(error: Exception) -> int:
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def _tokens(error: Exception) -> dict[str, int]:
    return {"tokens": error.tokens, "limit": error.limit} if isinstance(error, PromptTooLong) else {}


def add_error_handlers(app: FastAPI) -> None:
    async def known_error(request: Request, error: Exception) -> JSONResponse:
        headers = {"Retry-After": str(error.seconds)} if isinstance(error, QueueFull) else {}
        if isinstance(error, CaseStoreFull | CaseStoreUnavailable | CollectorFull | UnpackingBusy):
            headers = {"Retry-After": str(CASE_STORE_RETRY_S)}
        return error_response(request.url.path, _status(error), str(error), headers, **_tokens(error))

    async def http_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, StarletteHTTPException)
        return error_response(request.url.path, error.status_code, str(error.detail), error.headers)

    async def validation_error(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        message = _validation_message(first["type"], first["loc"], first["msg"])
        return error_response(request.url.path, invalid_body_status(request.url.path), message)

    async def unexpected_error(request: Request, error: Exception) -> JSONResponse:
        return error_response(request.url.path, 500, FAILED)  # the details are logged

    app.add_exception_handler(Exception, unexpected_error)
    for kind in STATUS:
        app.add_exception_handler(kind, known_error)
    app.add_exception_handler(StarletteHTTPException, http_error)
    app.add_exception_handler(RequestValidationError, validation_error)


def _validation_message(kind: str, where: tuple[str | int, ...], message: str) -> str:
    """FastAPI's validation error as one sentence."""
    if where == ("body",) and kind in ("missing", "model_attributes_type"):
        return "the body must be a JSON object, sent with the header `Content-Type: application/json`"
    return field_message(where[1:], message)
