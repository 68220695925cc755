"""HTTP to a model server: limits concurrency, sets deadlines and retries transient errors.

Transient errors are a failed connection, a timeout, a malformed response, and the statuses 408, 409, 429 and 5xx. The
wait before a retry is that of `Retry-After`, or a random time that grows. Redirects are not followed, so that the key
is sent to one address only.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import anyio
import httpx
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from judge_r1.core.endpoint import (
    DEFAULT_POLICY,
    EndpointError,
    ReplyTooLarge,
    RequestRejected,
    RetriesExhausted,
    RetryPolicy,
    retry_after,
)

T = TypeVar("T")
_TRANSIENT_STATUSES = (408, 409, 429)
_NO_CREDIT = ("insufficient_quota", "credit balance is too low")
"""OpenAI sends these with status 429, Anthropic with 400."""
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


class Client:
    """A client of one address. The key is sent in a request header and appears nowhere else."""

    def __init__(self, address: Address, key: SecretStr | None, limits: RetryPolicy = DEFAULT_POLICY) -> None:
        self._address, self._key, self._limits = address, key, limits
        self._host = httpx.URL(address.url).host
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._http = httpx.AsyncClient(
            timeout=None,  # httpx's timeouts do not apply to a response that arrives byte by byte
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=limits.concurrency),
            follow_redirects=False,
        )

    async def aclose(self) -> None:
        with anyio.move_on_after(self._limits.request_s):
            await self._http.aclose()

    async def post(self, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """POSTs `body` and returns `read` of the JSON response. A response for which `read` raises one of `_MALFORMED`
        is retried.

        Raises:
            RequestRejected: The server rejects this body, or its reply is too large (`ReplyTooLarge`).
            RetriesExhausted: All attempts failed, or the deadline passed.
            EndpointError: The server would reject every body.
        """
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._limits.attempts),
            wait=self._wait,
            retry=retry_if_exception_type(_Transient),
            reraise=True,
        )
        try:
            async with self._slots:  # the wait for a slot does not count towards the deadline
                with anyio.fail_after(self._limits.total_s):
                    answer: T = await retrying(self._once, body, read)
                    return answer
        except _Transient as error:
            raise RetriesExhausted(
                f"{self._host}: all {self._limits.attempts} attempts failed; the last error: {error}"
            ) from None
        except TimeoutError:
            raise RetriesExhausted(f"{self._host}: no valid response within {self._limits.total_s:g} s") from None

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
            raise _Transient(self._clean(f"{type(error).__name__} {error}")) from None
        if response.status_code != 200:
            raise self._explain(response)
        try:
            return read(response.json())
        except _MALFORMED as error:
            raise _Transient(self._clean(f"malformed response ({type(error).__name__}: {error})")) from None

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

    def _explain(self, response: httpx.Response) -> EndpointError:
        status, reason = response.status_code, self._clean(_message(response))
        if status in (401, 403):
            return EndpointError(self._key_problem(status))
        if status == 402 or any(words in response.text for words in _NO_CREDIT):
            return EndpointError(f"{self._host}: no credit is left ({reason}): add credit and run the command again")
        if 300 <= status < 400:
            return EndpointError(f"{self._host} redirects (status {status}): use the address that it redirects to")
        if status == 404:
            return EndpointError(f"{self._host} has no such address or model ({reason}): check the SPEC")
        if status not in _TRANSIENT_STATUSES and status < 500:
            return RequestRejected(f"{self._host} rejects a request (status {status}: {reason})", reason)
        wait_s = retry_after(response.headers)
        if wait_s is not None and wait_s > self._limits.total_s:
            return EndpointError(f"{self._host} asks for a wait of {wait_s:.0f} s (status {status}): try later")
        return _Transient(f"status {status}: {reason}", wait_s)

    def _key_problem(self, status: int) -> str:
        variables = " or ".join(self._address.key_variables)
        if self._key is None:
            return f"{self._host} needs a key (status {status}): set the environment variable {variables}"
        return f"{self._host} rejects the key of the environment variable {variables} (status {status})"

    def _clean(self, text: str) -> str:
        """The text as one short line, without the key."""
        if self._key:
            text = text.replace(self._key.get_secret_value(), "***")
        return " ".join(text.split())[:300]


def _message(response: httpx.Response) -> str:
    """The server's error message with its code, or the body of the response."""
    try:
        error = response.json()["error"]
        code = error.get("code")
        return str(error["message"]) + (f" [{code}]" if isinstance(code, str) else "")
    except _MALFORMED:
        return response.text or "no reason given"
