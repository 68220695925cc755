"""The client of a served judge, for asyncio and trio."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

import anyio
import httpx
from pydantic import BaseModel, ValidationError

from judge_r1.client.responses import Answer, Event, Transient, event_of, explained, read
from judge_r1.core.endpoint import EndpointError, RequestRejected, RetriesExhausted, checked_address, find_key
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import explain
from judge_r1.core.wire import (
    CaseRequest,
    CaseResponse,
    JudgeRequestBody,
    JudgeResponse,
    Problem,
    ScoreRequest,
    ScoreResponse,
)

Body = TypeVar("Body", bound=BaseModel)
T = TypeVar("T")
KEY = "JUDGE_R1_KEY"


class BadRequest(JudgeError):
    """A request that need not be sent: what it lacks, field by field."""


@dataclass(frozen=True)
class _Server:
    name: str
    key_variables: tuple[str, ...] = (KEY,)
    needs_key: bool = False


class AsyncClient:
    """`url` is where `judge-r1 serve` listens; `key` is taken from JUDGE_R1_KEY where it is not given, and leaves this
    object in a header only. Each ask has `seconds` for all its `attempts`; of `many`, `concurrency` are under way
    together. Use it as a context manager, or `aclose` it.

    Errors of every ask: BadRequest before anything is sent; ServerRefuses for this request alone; NoAnswer where
    patience is at its end; ServerError for what would befall any other request, too.
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        *,
        key: str | None = None,
        seconds: float = 300.0,
        attempts: int = 6,
        concurrency: int = 16,
    ) -> None:
        base = checked_address(url, "the served judge").removesuffix("/v1")
        self._host = httpx.URL(base).netloc.decode()
        self._key = find_key(_Server(self._host), os.environ if key is None else {KEY: key})
        self._seconds, self._attempts, self._concurrency = seconds, attempts, concurrency
        self._http = httpx.AsyncClient(
            base_url=base,
            auth=self._sign,
            timeout=None,  # deadlines are ours: a server that drips its answer never runs into one of httpx's
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=concurrency),
            follow_redirects=False,
        )

    async def judge(self, **pair: Any) -> JudgeResponse:
        """The judgment of a pair: reasoning_a, reasoning_b, and what else a `JudgeRequest` has (context or case_id,
        decision, domain, trace)."""
        return await self._ask("POST", "/v1/judge", _made(JudgeRequestBody, pair), JudgeResponse)

    async def many(self, pairs: Iterable[Mapping[str, Any]]) -> list[JudgeResponse | Problem]:
        """The judgments of several pairs, in order. A pair that has none (it was refused, or never answered) has a
        Problem in its place; what would befall the others too is raised."""
        requests = [_made(JudgeRequestBody, pair, f"pair {number}: ") for number, pair in enumerate(pairs)]
        found: list[JudgeResponse | Problem | None] = [None] * len(requests)
        failed: list[EndpointError] = []
        places = anyio.Semaphore(self._concurrency)

        async def one(number: int) -> None:
            async with places:
                try:
                    found[number] = await self._ask("POST", "/v1/judge", requests[number], JudgeResponse)
                except (RequestRejected, RetriesExhausted) as error:
                    found[number] = Problem(error=str(error))
                except EndpointError as error:
                    failed.append(error)
                    group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for number in range(len(requests)):
                group.start_soon(one, number)
        if failed:
            raise failed[0]
        return [answer for answer in found if answer is not None]

    async def score(self, prompt: str, candidates: Iterable[str], **more: Any) -> ScoreResponse:
        """Scores as of a reward model, by games of two; `more` is what else a `ScoreRequest` has (reference, context or
        case_id, domain)."""
        body = _made(ScoreRequest, {"prompt": prompt, "candidates": list(candidates), **more})
        return await self._ask("POST", "/v1/score", body, ScoreResponse)

    async def put_case(self, context: str) -> CaseResponse:
        """Keep a case at the server, to judge it by its `case_id` many times."""
        return await self._ask("PUT", "/v1/cases", _made(CaseRequest, {"context": context}), CaseResponse)

    async def stream(self, **pair: Any) -> AsyncIterator[Event]:
        """A pair's episode as it is played; the last event is its JudgeResponse. It is asked for once. Whoever closes
        it before its end gives the game up."""
        body = _made(JudgeRequestBody, pair)
        until = anyio.current_time() + self._seconds
        request = self._request("POST", "/v1/judge/stream", body)
        try:
            response = await self._in_time(until, partial(self._http.send, request, stream=True))
        except Transient as error:
            raise _last(error, 1) from None
        try:
            if response.status_code != 200:
                await self._in_time(until, response.aread)
                raise _last(explained(self._host, response), 1)
            lines, name = response.aiter_lines(), ""
            while (line := await self._in_time(until, lambda: anext(lines, None))) is not None:
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    event = event_of(self._host, name, value)
                    if event is not None:
                        yield event
                    if isinstance(event, JudgeResponse):
                        return
            raise RetriesExhausted(f"{self._host}: the stream ended without a judgment")
        except Transient as error:
            raise _last(error, 1) from None
        finally:
            with anyio.move_on_after(5, shield=True):
                await response.aclose()

    async def aclose(self) -> None:
        with anyio.move_on_after(5, shield=True):
            await self._http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _ask(self, method: str, path: str, body: BaseModel, kind: type[Answer]) -> Answer:
        until, attempt = anyio.current_time() + self._seconds, 0
        while True:
            attempt += 1
            try:
                response = await self._in_time(until, partial(self._http.send, self._request(method, path, body)))
                return read(self._host, response, kind)
            except Transient as error:
                wait = error.wait(attempt)
                if attempt == self._attempts:
                    raise _last(error, attempt) from None
                if anyio.current_time() + wait >= until:
                    raise RetriesExhausted(
                        f"{self._host} has no answer before the deadline of {self._seconds:g} s ({error})"
                    ) from None
            await anyio.sleep(wait)

    async def _in_time(self, until: float, call: Callable[[], Awaitable[T]]) -> T:
        """Errors: NoAnswer after the deadline, Transient for a connection that fails."""
        try:
            with anyio.fail_after(max(0.0, until - anyio.current_time())):
                return await call()
        except TimeoutError:
            raise RetriesExhausted(f"{self._host} gave no answer within {self._seconds:g} s") from None
        except httpx.RequestError as error:
            raise Transient(f"{self._host}: {type(error).__name__} {error}".rstrip()) from None

    def _request(self, method: str, path: str, body: BaseModel) -> httpx.Request:
        content = body.model_dump_json(exclude_unset=True)
        return self._http.build_request(method, path, content=content, headers={"content-type": "application/json"})

    def _sign(self, request: httpx.Request) -> httpx.Request:
        """Puts the key where it is needed, and into no variable that a traceback could show."""
        if self._key is not None:
            request.headers["authorization"] = f"Bearer {self._key.get_secret_value()}"
        return request


def _made(kind: type[Body], fields: Mapping[str, Any], where: str = "") -> Body:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise BadRequest(f"{where}no {kind.__name__}: {explain(error)}") from None


def _last(error: EndpointError, attempts: int) -> EndpointError:
    if not isinstance(error, Transient):
        return error
    return RetriesExhausted(f"asked {attempts} times in vain; at last: {error}" if attempts > 1 else str(error))
