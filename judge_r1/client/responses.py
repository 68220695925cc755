"""What a served judge says: typed, or an error with its sentence."""

import random
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from judge_r1.core.endpoint import EndpointError, RequestRejected, RetriesExhausted, retry_after
from judge_r1.core.jsonl import explain
from judge_r1.core.wire import JudgeResponse, Problem, Refusal, TurnSeen

AGAIN = (408, 429, 500, 502, 503)
"""What may pass. Not 504: the server has spent its whole deadline on it already."""
BACKOFF_S = 0.5
_LONGEST_WAIT_S = 30.0
ServerError = EndpointError
"""The base of all that a client raises about its server."""
Answer = TypeVar("Answer", bound=BaseModel)


class ServerRefuses(RequestRejected):
    """A request that the server will not take, however often it is sent; `status` is HTTP's, `said` are its words."""

    def __init__(self, host: str, status: int, problem: Refusal) -> None:
        super().__init__(f"{host} refuses the request (status {status}): {problem.error}", problem.error)
        self.status, self.tokens, self.limit = status, problem.tokens, problem.limit


class Transient(EndpointError):
    """What may pass; `wait_s` is what the server asked for."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s

    def wait(self, attempt: int) -> float:
        """Seconds before the next attempt: what the server says and a little more, or full jitter."""
        if self.wait_s is not None:
            return self.wait_s + random.uniform(0, BACKOFF_S)
        return random.uniform(0, min(_LONGEST_WAIT_S, BACKOFF_S * 2.0**attempt))


@dataclass(frozen=True)
class SearchBegan:
    """The judge searches the case for `query`."""

    query: str


Event = SearchBegan | TurnSeen | JudgeResponse
"""Of an episode that is watched: searches and turns as they happen, the judgment at last."""


def read(host: str, response: httpx.Response, kind: type[Answer]) -> Answer:
    """The answer of a request. Errors: as for `explained`, and ServerError for a server of another kind."""
    if response.status_code != 200:
        raise explained(host, response)
    return parsed(host, response.content, kind)


def parsed(host: str, text: str | bytes, kind: type[Answer]) -> Answer:
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        said = explain(error)
        raise EndpointError(
            f"{host} answers with no {kind.__name__} ({said}): is it a judge-r1 of this version?"
        ) from None


def explained(host: str, response: httpx.Response) -> EndpointError:
    """What a status other than 200 means: Transient, ServerRefuses, or ServerError for what would befall any other
    request, too."""
    status, problem = response.status_code, _problem(response)
    if status == 401:
        return EndpointError(f"{host} wants a key or refuses the one it was sent: set JUDGE_R1_KEY, or give key=")
    if 300 <= status < 400:
        return EndpointError(f"{host} redirects (status {status}): give the address that it redirects to")
    if status in AGAIN:
        return Transient(f"{host}: status {status}: {problem.error}", retry_after(response.headers))
    if status == 504:
        return RetriesExhausted(f"{host} gave up: {problem.error}")
    return ServerRefuses(host, status, problem)


def event_of(host: str, name: str, data: str) -> Event | None:
    """An event of a stream, None for one that only a newer server tells. Errors: NoAnswer for the server's `error`."""
    if name == "verdict":
        return parsed(host, data, JudgeResponse)
    if name == "turn":
        return parsed(host, data, TurnSeen)
    if name == "search":
        return SearchBegan(parsed(host, data, _Query).query)
    if name == "error":
        raise RetriesExhausted(f"{host}: {parsed(host, data, Problem).error}")
    return None


class _Query(BaseModel):
    query: str


def _problem(response: httpx.Response) -> Refusal:
    """The server's own sentence, or the beginning of whatever came from what stands before it."""
    try:
        return Refusal.model_validate_json(response.content)
    except ValidationError:
        said: Any = " ".join(response.text.split())[:300]
        return Refusal(error=said or "no reason given")
