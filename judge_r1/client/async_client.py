"""The asynchronous client of a served judge, for asyncio and trio."""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Any, TypeVar

import anyio
import httpx
from pydantic import BaseModel

from judge_r1.client.responses import Answer, Event, TransientError, error_of, event_of, parse_response
from judge_r1.core.endpoint import EndpointError, RequestRejected, RetriesExhausted, checked_address, find_key
from judge_r1.core.errors import JudgeError, invalid_as
from judge_r1.core.progress import show_progress
from judge_r1.core.wire import (
    CaseRequest,
    CaseResponse,
    ErrorMessage,
    JudgeRequestBody,
    JudgeResponse,
    ScoreRequest,
    ScoreResponse,
)

Body = TypeVar("Body", bound=BaseModel)
T = TypeVar("T")
KEY = "JUDGE_R1_KEY"


class BadRequest(JudgeError):
    """A request with missing or invalid fields. It is not sent."""


@dataclass(frozen=True)
class _Server:
    name: str
    key_variables: tuple[str, ...] = (KEY,)
    needs_key: bool = False


class AsyncClient:
    """The client of the server at `url`.

    Use it as an async context manager, or call `aclose`.

    Args:
        url: The address of `judge-r1 serve`.
        key: The API key; by default that of the environment variable JUDGE_R1_KEY. It is only sent in a header.
        seconds: Deadline of a request with all its retries.
        attempts: Maximum number of attempts per request. A server that has answered and is gone, as while it restarts,
            is waited for until the deadline.
        concurrency: Maximum number of concurrent requests of `many`.

    Every method raises:
        BadRequest: The request is not valid. It is not sent.
        ServerRefuses: The server rejects this request.
        RetriesExhausted: There is no valid response after the last retry or before the deadline.
        ServerError: Every request would fail, for example without a valid key.
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
        self._seconds, self._attempts, self._concurrency, self._answered = seconds, attempts, concurrency, False
        self._http = httpx.AsyncClient(
            base_url=base,
            auth=self._sign,
            timeout=None,  # httpx has no total deadline: a server that sends slowly would never exceed it
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=concurrency),
            follow_redirects=False,
        )

    async def check(self, seconds: float = 5.0) -> None:
        """Asks once whether a server is there. It may be starting. Raises: RetriesExhausted if none answers."""
        try:
            with anyio.fail_after(seconds):
                await self._http.get("/healthz")
        except (TimeoutError, httpx.RequestError) as error:
            raise RetriesExhausted(f"{self._host}: {type(error).__name__} {error}".rstrip()) from None

    async def judge(self, **pair: Any) -> JudgeResponse:
        """Judges a pair: reasoning_a, reasoning_b, and optionally context or case_id, decision, domain, trace."""
        return await self._send("POST", "/v1/judge", _validated(JudgeRequestBody, pair), JudgeResponse)

    async def many(
        self, pairs: Iterable[Mapping[str, Any]], *, progress: bool = True
    ) -> list[JudgeResponse | ErrorMessage]:
        """Judges several pairs. Returns the results in order, with an ErrorMessage for each pair that failed.

        `progress` shows on standard error how many are done, if it takes more than a few seconds.
        Raises an error that every request would meet.
        """
        requests = [_validated(JudgeRequestBody, pair, f"pair {number}: ") for number, pair in enumerate(pairs)]
        results: list[JudgeResponse | ErrorMessage | None] = [None] * len(requests)
        failed: list[EndpointError] = []
        slots = anyio.Semaphore(self._concurrency)

        async def one(number: int) -> None:
            async with slots:
                try:
                    results[number] = await self._send("POST", "/v1/judge", requests[number], JudgeResponse)
                except (RequestRejected, RetriesExhausted) as error:
                    results[number] = ErrorMessage(error=str(error))
                except EndpointError as error:  # such as a wrong key: no other pair would get an answer
                    failed.append(error)
                    group.cancel_scope.cancel()
            one_done()

        with show_progress("judging", len(requests), shown=progress) as one_done:
            async with anyio.create_task_group() as group:
                for number in range(len(requests)):
                    group.start_soon(one, number)
        if failed:
            raise failed[0]
        return [answer for answer in results if answer is not None]

    async def score(self, prompt: str, candidates: Iterable[str], **more: Any) -> ScoreResponse:
        """Scores candidates by pairwise comparisons; `more` may hold reference, context or case_id, and domain."""
        body = _validated(ScoreRequest, {"prompt": prompt, "candidates": list(candidates), **more})
        return await self._send("POST", "/v1/score", body, ScoreResponse)

    async def put_case(self, context: str) -> CaseResponse:
        """Uploads a case, to judge it by its `case_id` many times."""
        return await self._send("PUT", "/v1/cases", _validated(CaseRequest, {"context": context}), CaseResponse)

    async def stream(self, **pair: Any) -> AsyncIterator[Event]:
        """Judges a pair and yields the events of its episode. The last one is the JudgeResponse.

        A stream is not retried. Closing the iterator early cancels the request on the server.
        """
        body = _validated(JudgeRequestBody, pair)
        deadline = anyio.current_time() + self._seconds
        request = self._request("POST", "/v1/judge/stream", body)
        try:
            response = await self._in_time(deadline, partial(self._http.send, request, stream=True))
        except TransientError as error:
            raise _last(error, 1) from None
        try:
            if response.status_code != 200:
                await self._in_time(deadline, response.aread)
                raise _last(error_of(self._host, response), 1)
            lines, name = response.aiter_lines(), ""
            while (line := await self._in_time(deadline, lambda: anext(lines, None))) is not None:
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    event = event_of(self._host, name, value)
                    if event is not None:
                        yield event
                    if isinstance(event, JudgeResponse):
                        return
            # The last event of a whole stream is the judgment, so a server or a proxy has cut this one off.
            raise RetriesExhausted(f"{self._host}: the stream ended without a judgment")
        except TransientError as error:
            raise _last(error, 1) from None
        finally:
            # Shielded, as the caller may be cancelled: closing is what tells the server to stop.
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

    async def _send(self, method: str, path: str, body: BaseModel, kind: type[Answer]) -> Answer:
        deadline, attempt, absent = anyio.current_time() + self._seconds, 0, 0
        while True:
            attempt += 1
            try:
                response = await self._in_time(deadline, partial(self._http.send, self._request(method, path, body)))
                self._answered |= response.status_code == 200
                return parse_response(self._host, response, kind)
            except TransientError as error:
                wait = error.wait(attempt)
                absent += self._answered and error.absent
                if attempt - absent == self._attempts:
                    raise _last(error, attempt) from None
                if anyio.current_time() + wait >= deadline:
                    raise RetriesExhausted(
                        f"{self._host} gave no response before the deadline of {self._seconds:g} s ({error})"
                    ) from None
            await anyio.sleep(wait)

    async def _in_time(self, deadline: float, call: Callable[[], Awaitable[T]]) -> T:
        """Raises RetriesExhausted after the deadline, and TransientError if the connection fails."""
        try:
            with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
                return await call()
        except TimeoutError:
            raise RetriesExhausted(f"{self._host} gave no response within {self._seconds:g} s") from None
        except httpx.RequestError as error:
            absent = isinstance(error, httpx.ConnectError)
            raise TransientError(f"{self._host}: {type(error).__name__} {error}".rstrip(), absent=absent) from None

    def _request(self, method: str, path: str, body: BaseModel) -> httpx.Request:
        content = body.model_dump_json(exclude_unset=True)
        return self._http.build_request(method, path, content=content, headers={"content-type": "application/json"})

    def _sign(self, request: httpx.Request) -> httpx.Request:
        """Adds the key to the header only: no variable holds it that a traceback could show."""
        if self._key is not None:
            request.headers["authorization"] = f"Bearer {self._key.get_secret_value()}"
        return request


def _validated(kind: type[Body], fields: Mapping[str, Any], where: str = "") -> Body:
    with invalid_as(BadRequest, f"{where}invalid {kind.__name__}"):
        return kind.model_validate(fields)


def _last(error: EndpointError, attempts: int) -> EndpointError:
    if not isinstance(error, TransientError):
        return error
    return RetriesExhausted(f"failed {attempts} times; the last error: {error}" if attempts > 1 else str(error))
