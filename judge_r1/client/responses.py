"""Parses the responses of a served judge into typed results and errors."""

import random
from dataclasses import dataclass
from typing import TypeVar

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from judge_r1.core.endpoint import EndpointError, RequestRejected, RetriesExhausted, retry_after
from judge_r1.core.errors import explain
from judge_r1.core.text_check import beginning
from judge_r1.core.wire import ErrorMessage, ErrorResponse, JudgeResponse, TurnResponse

RETRIED = (408, 429, 500, 502, 503)
"""Statuses of transient errors. Not 504: the server has already spent its whole deadline on the request."""
BACKOFF_S = 0.5
_LONGEST_WAIT_S = 30.0
ServerError = EndpointError
"""The base class of all errors of the server."""
Answer = TypeVar("Answer", bound=BaseModel)


class ServerRefuses(RequestRejected):
    """The server rejects this request. `status` is the HTTP status, `reason` the server's message."""

    def __init__(self, host: str, status: int, response: ErrorResponse) -> None:
        super().__init__(f"{host} rejects the request (status {status}): {response.error}", response.error)
        self.status, self.tokens, self.limit = status, response.tokens, response.limit


class TransientError(EndpointError):
    """An error that a retry may fix. `wait_s` is the wait that the server asks for; `absent`: the server is gone, or
    closing (503)."""

    def __init__(self, message: str, wait_s: float | None = None, *, absent: bool = False) -> None:
        super().__init__(message)
        self.wait_s, self.absent = wait_s, absent

    def wait(self, attempt: int) -> float:
        """Seconds before the next attempt: the server's wait plus jitter, or exponential backoff with full jitter."""
        if self.wait_s is not None:
            return self.wait_s + random.uniform(0, BACKOFF_S)
        return random.uniform(0, min(_LONGEST_WAIT_S, BACKOFF_S * 2.0 ** min(attempt, 30)))


@dataclass(frozen=True)
class SearchStarted:
    """The judge starts to search the case for `query`."""

    query: str


class CallStarted(BaseModel):
    """The judge calls a tool."""

    model_config = ConfigDict(frozen=True)

    name: str
    input: str


Event = SearchStarted | CallStarted | TurnResponse | JudgeResponse
"""An event of a streamed episode: searches and turns as they happen, then the judgment."""


def parse_response(host: str, response: httpx.Response, kind: type[Answer]) -> Answer:
    """The typed response. Raises what `error_of` returns, and ServerError if the body has another type."""
    if response.status_code != 200:
        raise error_of(host, response)
    return parse_json(host, response.content, kind)


def parse_json(host: str, text: str | bytes, kind: type[Answer]) -> Answer:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        mistake = explain(error)
        raise EndpointError(
            f"{host} returns no {kind.__name__} ({mistake}): does it run judge-r1 of this version?"
        ) from None


def error_of(host: str, response: httpx.Response) -> EndpointError:
    """The error of a status other than 200: TransientError, ServerRefuses (this request) or ServerError (any)."""
    status, body = response.status_code, _error_body(response)
    if status == 401:
        return EndpointError(f"{host} needs an API key or rejects the one it got: set JUDGE_R1_KEY, or pass key=")
    if 300 <= status < 400:
        return EndpointError(f"{host} redirects (status {status}): use the address that it redirects to")
    if status in RETRIED:
        message = f"{host}: status {status}: {body.error}"
        return TransientError(message, retry_after(response.headers), absent=status == 503)
    if status == 504:
        return RetriesExhausted(f"{host} gave up: {body.error}")
    if status in (404, 405, 501) and response.headers.get("content-type", "").startswith("text/html"):
        return EndpointError(f"{host} answers status {status} with a web page: is it a judge-r1 server? Check the URL")
    return ServerRefuses(host, status, body)


def event_of(host: str, name: str, data: str) -> Event | None:
    """An event of a stream; None for an unknown kind (newer server). Raises RetriesExhausted for an `error`."""
    if name == "verdict":
        return parse_json(host, data, JudgeResponse)
    if name == "turn":
        return parse_json(host, data, TurnResponse)
    if name == "search":
        return SearchStarted(parse_json(host, data, _Query).query)
    if name == "call":
        return parse_json(host, data, CallStarted)
    if name == "error":
        raise RetriesExhausted(f"{host}: {parse_json(host, data, ErrorMessage).error}")
    return None


class _Query(BaseModel):
    query: str


def _error_body(response: httpx.Response) -> ErrorResponse:
    """The server's error, or the start of the text that a proxy sent instead."""
    try:
        return ErrorResponse.model_validate_json(response.content)
    except ValidationError:
        text = " ".join(response.text.split())
        return ErrorResponse(error=beginning(text, 300) or "no reason given")
