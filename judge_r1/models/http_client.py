"""HTTP to a model server: limits concurrency, sets deadlines and retries transient errors.

Transient errors are a lost connection, a timeout, and the statuses 408, 409, 429 and 5xx. The wait before a retry is
that of `Retry-After`, or a random time that grows. A reply in another form is asked for again a few times only. A
server that cannot be reached at the start is an error at once. Redirects are not followed, so that the key is sent to
one address only.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import anyio
import httpx
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from judge_r1.core.endpoint import (
    DEFAULT_POLICY,
    EndpointError,
    MalformedReply,
    ReplyTooLarge,
    RequestRejected,
    RetriesExhausted,
    RetryPolicy,
    retry_after,
)
from judge_r1.models.error_reply import ErrorReply, error_in, read_error

T = TypeVar("T")
_log = logging.getLogger(__name__)
_TRANSIENT_STATUSES = (408, 409, 429)
_MALFORMED_ATTEMPTS = 4
"""Attempts at a request whose reply has another form."""
_WARN_AFTER = 3
"""Attempts at a request after which a warning names the error, so that a long wait is not silent."""
_CONNECT_S = 10.0
_LONGEST_WAIT_S = 60.0
_ERROR_BYTES = 2**16
_FRAMING = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that do not describe the decoded content."""
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)
"""Errors of reading JSON that has another form, is too deep, or holds huge numbers."""


class Address(Protocol):
    """The URL of an endpoint and the headers that carry the key."""

    @property
    def url(self) -> str: ...

    @property
    def key_variables(self) -> tuple[str, ...]: ...

    def headers(self, key: str | None) -> dict[str, str]: ...


class _Transient(EndpointError):
    """An error that is retried. `wait_s` is the wait that the server requests."""

    def __init__(self, message: str, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.wait_s = wait_s


class _Malformed(_Transient):
    """A reply that cannot be read. `is_json`: it is JSON, in another form."""

    def __init__(self, message: str, *, is_json: bool) -> None:
        super().__init__(message)
        self.is_json = is_json


class Client:
    """A client of one address. The key is sent in a request header and appears nowhere else."""

    def __init__(self, address: Address, key: SecretStr | None, limits: RetryPolicy = DEFAULT_POLICY) -> None:
        self._address, self._key, self._limits = address, key, limits
        self._host = httpx.URL(address.url).host
        self._reached = self._warned = False
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._http = httpx.AsyncClient(
            # the other timeouts of httpx do not apply to a response that arrives byte by byte
            timeout=httpx.Timeout(None, connect=_CONNECT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=limits.concurrency),
            follow_redirects=False,
        )

    async def aclose(self) -> None:
        with anyio.move_on_after(self._limits.request_s):
            await self._http.aclose()

    async def post(self, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """POSTs `body` and returns `read` of the JSON response. A response for which `read` raises one of `_MALFORMED`
        has another form.

        Raises:
            RequestRejected: The server rejects this body, or its reply is too large (`ReplyTooLarge`).
            RetriesExhausted: All attempts failed (`MalformedReply`: with a reply in another form), or the deadline
                passed.
            EndpointError: The server would reject every body, or cannot be reached.
        """
        failed: list[BaseException | None] = []
        retrying = AsyncRetrying(
            stop=self._is_last,
            wait=self._wait,
            retry=retry_if_exception_type(_Transient),
            before_sleep=lambda state: failed.append(self._note(state)),
            reraise=True,
        )
        try:
            async with self._slots:  # the wait for a slot does not count towards the deadline
                with anyio.fail_after(self._limits.total_s):
                    answer: T = await retrying(self._once, body, read)
                    return answer
        except _Transient as error:
            kind = MalformedReply if isinstance(error, _Malformed) and error.is_json else RetriesExhausted
            raise kind(f"{self._host}: all {len(failed) + 1} attempts failed; the last error: {error}") from None
        except TimeoutError:
            last = f"; the last error: {failed[-1]}" if failed else ""
            message = f"{self._host}: no valid response within {self._limits.total_s:g} s{last}"
            raise RetriesExhausted(message) from None

    def _is_last(self, state: RetryCallState) -> bool:
        """Whether no further attempt follows a failed one."""
        malformed = isinstance(state.outcome.exception() if state.outcome else None, _Malformed)
        attempts = min(self._limits.attempts, _MALFORMED_ATTEMPTS) if malformed else self._limits.attempts
        return state.attempt_number >= attempts

    def _note(self, state: RetryCallState) -> BaseException | None:
        """The error of a failed attempt that is repeated. A client warns once."""
        error = state.outcome.exception() if state.outcome else None
        if state.attempt_number >= _WARN_AFTER and not self._warned:
            self._warned = True
            _log.warning("%s: a request failed %d times and is repeated: %s", self._host, state.attempt_number, error)
        return error

    def _wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt: the requested wait plus jitter, or a random time with exponential growth."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _Transient) and error.wait_s is not None:
            return error.wait_s + random.uniform(0, self._limits.backoff_s)
        return random.uniform(0, min(_LONGEST_WAIT_S, self._limits.backoff_s * 2**state.attempt_number))

    async def _once(self, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        try:
            with anyio.fail_after(self._limits.request_s):  # asyncio's wait_for would leak connections of the pool
                response = await self._reply(body)
        except TimeoutError:
            raise _Transient(f"no response within {self._limits.request_s:g} s") from None
        except httpx.RequestError as error:
            reason = self._clean(f"{type(error).__name__} {error}")
            if not self._reached and isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                address = httpx.URL(self._address.url).netloc.decode()
                raise EndpointError(
                    f"{address} cannot be reached ({reason}): start the server, or correct the URL"
                ) from None
            raise _Transient(reason) from None
        self._reached = True
        if response.status_code != 200:
            raise self._explain(read_error(response.status_code, response.text), response.headers)
        try:
            data = response.json()
        except _MALFORMED as error:
            raise _Malformed(self._quoted("a reply that is not JSON", error, response), is_json=False) from None
        try:
            if (found := error_in(data)) is None:
                return read(data)
        except _MALFORMED as error:
            raise _Malformed(self._quoted("a reply in another form", error, response), is_json=True) from None
        raise self._explain(found, response.headers)

    async def _reply(self, body: Mapping[str, Any]) -> httpx.Response:
        """The response, read up to the size limit. Of an error response, the first part is enough."""
        content = bytearray()
        async with self._http.stream("POST", self._address.url, json=body, auth=self._sign) as response:
            ok = response.status_code == 200
            async for chunk in response.aiter_bytes():
                content += chunk
                if not ok and len(content) > _ERROR_BYTES:
                    break
                if len(content) > self._limits.reply_bytes:
                    raise ReplyTooLarge(f"{self._host} sends a reply of more than {self._limits.reply_bytes:,} bytes")
        kept = {name: value for name, value in response.headers.items() if name not in _FRAMING}
        return httpx.Response(response.status_code, headers=kept, content=bytes(content))

    def _sign(self, request: httpx.Request) -> httpx.Request:
        """Adds the key to the request, without a local variable that a traceback could show."""
        request.headers.update(self._address.headers(self._key.get_secret_value() if self._key else None))
        return request

    def _explain(self, error: ErrorReply, headers: Mapping[str, str]) -> EndpointError:
        status, reason = error.status, self._clean(error.message)
        if error.meaning == "no_credit" or status == 402:
            return EndpointError(f"{self._host}: no credit is left ({reason}): add credit and run the command again")
        if error.meaning in ("context_overflow", "content_filter"):
            message = f"{self._host} rejects a request (status {status}: {reason})"
            return RequestRejected(message, reason, error.meaning)
        if status in (401, 403) or error.meaning == "bad_key":
            return EndpointError(self._key_problem(status))
        if 300 <= status < 400:
            return EndpointError(f"{self._host} redirects (status {status}): use the address that it redirects to")
        if status == 404:
            return EndpointError(f"{self._host} has no such address or model ({reason}): check the SPEC")
        if status not in _TRANSIENT_STATUSES and status < 500:
            return RequestRejected(f"{self._host} rejects a request (status {status}: {reason})", reason)
        wait_s = retry_after(headers)
        if wait_s is not None and wait_s > self._limits.total_s:
            return EndpointError(f"{self._host} asks for a wait of {wait_s:.0f} s (status {status}): try later")
        return _Transient(f"status {status}: {reason}", wait_s)

    def _key_problem(self, status: int) -> str:
        variables = " or ".join(self._address.key_variables)
        if self._key is None:
            return f"{self._host} needs a key (status {status}): set the environment variable {variables}"
        return f"{self._host} rejects the key of the environment variable {variables} (status {status})"

    def _quoted(self, problem: str, error: Exception, response: httpx.Response) -> str:
        return f"{problem} ({self._clean(f'{type(error).__name__}: {error}', 100)}): {self._clean(response.text)}"

    def _clean(self, text: str, length: int = 300) -> str:
        """The text as one short line, without the key."""
        if self._key:
            text = text.replace(self._key.get_secret_value(), "***")
        return " ".join(text[: 4 * length].split())[:length]
