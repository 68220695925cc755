"""HTTP to a model server: limits concurrency, sets deadlines and retries transient errors.

Transient errors are a lost connection, a timeout, and the statuses 408, 409, 429 and 5xx. The wait before a retry is
that of `Retry-After`, or a random time that grows. `x-should-retry: false` forbids a retry. A reply in another form is
asked for again a few times only, and one that took too long once. A server that has answered and is gone (no
connection, or 503), as while it restarts, is waited for until the deadline. A llama.cpp server says on how many
requests it works (`total_slots` of /props), and gets no more at a time; others wait here, where they do not time out. A
server that cannot be reached at the start is an error at once. Redirects are not followed, so that the key is sent to
one address only.
"""

import asyncio
import json
import logging
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr

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
from judge_r1.core.text_check import beginning
from judge_r1.models.connections import CallError, ConnectError, Connections, clean_error, deadline
from judge_r1.models.error_reply import ErrorReply, error_in, read_error

T = TypeVar("T")
_log = logging.getLogger(__name__)
_TRANSIENT_STATUSES = (408, 409, 429)
_MALFORMED_ATTEMPTS = 4
"""Attempts at a request whose reply has another form."""
_WARN_AFTER = 3
"""Attempts at a request after which a warning names the error, so that a long wait is not silent."""
_SECRET_CHARACTERS = 8
"""Length from which a key is masked within words, too. A placeholder such as `x` is part of many words."""
_LONGEST_WAIT_S = 60.0
_SLOTS_S = 5.0
"""How long a server may take to say on how many requests it works."""
_ERROR_BYTES = 2**16
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)
"""Errors of reading JSON that has another form, is too deep, or holds huge numbers."""


@dataclass(frozen=True)
class Reply:
    """A response that was read. Names of `headers` are case-insensitive; `content` may repeat the key."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)

    @property
    def text(self) -> str:
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        return json.loads(self.content)


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


class _Absent(_Transient):
    """No connection to a server that has answered, or its status 503. As no model was asked, this is no attempt."""


class _TimedOut(_Transient):
    """No response within the time of a request."""


class _Malformed(_Transient):
    """A reply that cannot be read. `is_json`: it is JSON, in another form."""

    def __init__(self, message: str, *, is_json: bool) -> None:
        super().__init__(message)
        self.is_json = is_json


class Client:
    """A client of one address. At most `limits.concurrency` calls run at a time, over connections that stay open. The
    key is sent in a request header and appears nowhere else."""

    def __init__(self, address: Address, key: SecretStr | None, limits: RetryPolicy = DEFAULT_POLICY) -> None:
        self._address, self._key, self._limits = address, key, limits
        self._host = urlsplit(address.url).netloc.rpartition("@")[2]
        self._reached = self._answered = self._warned = self._warned_late = False
        self._connections = Connections(address.url, limits.concurrency, self._slots)

    async def aclose(self) -> None:
        """Closes the connections of the running event loop, which also closes them when it ends."""
        await self._connections.aclose()

    async def post(self, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """POSTs `body` and returns `read` of the JSON response. A response for which `read` raises one of `_MALFORMED`
        has another form.

        Raises:
            RequestRejected: The server rejects this body, or its reply is too large (`ReplyTooLarge`).
            RetriesExhausted: All attempts failed (`MalformedReply`: with a reply in another form), or the deadline
                passed.
            EndpointError: The server would reject every body, or cannot be reached.
        """
        failed: list[_Transient] = []
        try:
            # The wait for a slot does not count towards the deadline.
            async with self._connections.slot() as session, deadline(self._limits.total_s):
                return await self._attempts(session, body, read, failed)
        except _Transient as error:
            malformed = [one for one in (*failed, error) if isinstance(one, _Malformed)]
            always = self._too_malformed(malformed) and all(one.is_json for one in malformed)
            kind = MalformedReply if always else RetriesExhausted
            raise kind(f"{self._host}: all {len(failed) + 1} attempts failed; the last error: {error}") from None
        except TimeoutError:
            last = f"; the last error: {failed[-1]}" if failed else ""
            message = f"{self._host}: no valid response within {self._limits.total_s:g} s{last}"
            raise RetriesExhausted(message) from None

    async def _attempts(
        self,
        session: aiohttp.ClientSession,
        body: Mapping[str, Any],
        read: Callable[[Any], T],
        failed: list[_Transient],
    ) -> T:
        """The result of the first attempt that succeeds. The errors before it are added to `failed`. Raises the error
        of the last one."""
        while True:
            try:
                return await self._once(session, body, read)
            except _Transient as error:
                attempts = sum(not isinstance(one, _Absent) for one in (*failed, error))
                if attempts >= self._limits.attempts or self._too_malformed([*failed, error]):
                    raise
                if (late := isinstance(error, _TimedOut)) and self._timed_out([*failed, error]):
                    raise
                failed.append(error)
            self._warn(failed, late=late)
            await asyncio.sleep(self._wait(len(failed), failed[-1]))

    def _too_malformed(self, failed: Sequence[_Transient]) -> bool:
        """Whether enough replies had another form to call it the server's answer. Other errors do not count."""
        malformed = sum(isinstance(error, _Malformed) for error in failed)
        return malformed >= min(_MALFORMED_ATTEMPTS, self._limits.attempts)

    def _timed_out(self, failed: Sequence[_Transient]) -> bool:
        """Whether a request took too long as often as it may."""
        late = sum(isinstance(error, _TimedOut) for error in failed)
        return late >= min(self._limits.timeouts, self._limits.attempts)

    def _warn(self, failed: Sequence[_Transient], *, late: bool) -> None:
        """Names the error of a request that fails repeatedly, and how long it is repeated, or of the first one that
        took too long (`late`). A client warns once of each."""
        if late and not self._warned_late:
            self._warned_late = True
            _log.warning("%s: a request is sent again, once: %s", self._host, failed[-1])
        elif len(failed) >= _WARN_AFTER and not self._warned:
            self._warned, attempts = True, self._limits.attempts
            if all(isinstance(error, _Malformed) for error in failed):
                attempts = min(_MALFORMED_ATTEMPTS, attempts)
            count = "" if all(isinstance(one, _Absent) for one in failed) else f"up to {attempts} attempts, "
            until = f"{count}for at most {self._limits.total_s:g} s"
            _log.warning(
                "%s: a request failed %d times and is repeated (%s): %s", self._host, len(failed), until, failed[-1]
            )

    def _wait(self, attempt: int, error: _Transient) -> float:
        """Seconds before the next attempt: the requested wait plus jitter, or a random time with exponential growth."""
        if error.wait_s is not None:
            return error.wait_s + random.uniform(0, self._limits.backoff_s)
        return random.uniform(0, min(_LONGEST_WAIT_S, self._limits.backoff_s * 2.0 ** min(attempt, 30)))

    async def _once(self, session: aiohttp.ClientSession, body: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        try:
            async with deadline(self._limits.request_s):  # asyncio's wait_for would leak connections of the pool
                response = await self._reply(session, body)
        except TimeoutError:
            advice = f"; {self._limits.options}" if self._limits.options else ""
            raise _TimedOut(f"no response within {self._limits.request_s:g} s{advice}") from None
        except CallError as error:
            reason = self._clean(f"{type(error).__name__} {error}")
            if not self._reached and isinstance(error, ConnectError):
                raise EndpointError(
                    f"{self._host} cannot be reached ({reason}): start the server, or correct the URL"
                ) from None
            raise (_Absent if self._answered and isinstance(error, ConnectError) else _Transient)(reason) from None
        self._reached = True
        if response.status_code != 200:
            refusal = self._explain(read_error(response.status_code, response.text), response.headers)
            if self._answered and response.status_code == 503 and isinstance(refusal, _Transient):
                raise _Absent(str(refusal), refusal.wait_s)
            raise refusal
        self._answered = True
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

    async def _slots(self, session: aiohttp.ClientSession) -> int | None:
        """The number of requests that a llama.cpp server works on at a time; None for other servers. Only servers
        without TLS are asked: these run on one's own machines."""
        root, v1, _ = self._address.url.partition("/v1/")
        if self._limits.concurrency == 1 or not v1 or not root.startswith("http:"):
            return None
        try:
            async with (
                deadline(min(_SLOTS_S, self._limits.request_s)),
                session.get(f"{root}/props", headers=self._headers(), allow_redirects=False) as response,
            ):
                content = await response.content.read(_ERROR_BYTES)  # also of an error: the connection is kept
                found = json.loads(content) if response.status == 200 else {}
        except (aiohttp.ClientError, OSError, TimeoutError, *_MALFORMED):
            return None  # the first request will say what is wrong
        slots = found.get("total_slots") if isinstance(found, dict) else None
        if not isinstance(slots, int) or not 0 < slots < self._limits.concurrency:
            return None
        _log.warning("%s works on %d at a time (/props), so no more are sent at once", self._host, slots)
        return slots

    async def _reply(self, session: aiohttp.ClientSession, body: Mapping[str, Any]) -> Reply:
        """The response, read up to the size limit. Of an error response, the first part is enough."""
        content, url = bytearray(), self._address.url
        sent = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        try:
            # A file, because aiohttp warns of a body in bytes over 1 MiB.
            async with session.post(
                url, data=BytesIO(sent), headers=self._headers(), allow_redirects=False
            ) as response:
                async for chunk in response.content.iter_any():
                    content += chunk
                    if response.status != 200 and len(content) > _ERROR_BYTES:
                        break
                    if len(content) > (most := self._limits.reply_bytes):
                        raise ReplyTooLarge(f"{self._host} sends a reply of more than {most:,} bytes")
        except BaseException as error:
            # Also CancelledError: the frames of any error hold the headers, and so the key.
            raise clean_error(error) from None
        _log.info("HTTP Request: POST %s, status %d", url, response.status)
        return Reply(response.status, response.headers, bytes(content))

    def _headers(self) -> dict[str, str]:
        key = self._key.get_secret_value() if self._key else None
        return {"content-type": "application/json", **self._address.headers(key)}

    def _explain(self, error: ErrorReply, headers: Mapping[str, str]) -> EndpointError:
        status, reason = error.status, self._clean(error.message)
        if error.meaning == "no_credit" or status == 402:
            return EndpointError(f"{self._host}: no credit is left ({reason}): add credit and run the command again")
        if error.meaning in ("context_overflow", "content_filter"):
            message = f"{self._host} rejects a request (status {status}: {reason})"
            return RequestRejected(message, reason, error.meaning, error.lengths)
        if status in (401, 403) or error.meaning == "bad_key":
            return EndpointError(self._key_problem(status))
        if 300 <= status < 400:
            return EndpointError(f"{self._host} redirects (status {status}): use the address that it redirects to")
        if status == 404:
            return EndpointError(
                f"{self._address.url} has no such address or model (status 404: {reason}): check the path of the URL, "
                "which often ends in /v1, and the name of the model"
            )
        if status not in _TRANSIENT_STATUSES and status < 500:
            message = f"{self._host} rejects a request (status {status}: {reason})"
            return RequestRejected(message, reason, lengths=error.lengths)
        if headers.get("x-should-retry") == "false":
            return RetriesExhausted(f"{self._host} gave up and asks for no retry (status {status}: {reason})")
        wait_s = retry_after(headers)
        if wait_s is not None and wait_s > self._limits.total_s:
            return EndpointError(f"{self._host} asks for a wait of {wait_s:.0f} s (status {status}): try later")
        return _Transient(f"status {status}: {reason}", wait_s)

    def _key_problem(self, status: int) -> str:
        variables = " or ".join(self._address.key_variables)
        if self._key is None:
            return f"{self._host} needs a key (status {status}): set the environment variable {variables}"
        return f"{self._host} rejects the key of the environment variable {variables} (status {status})"

    def _quoted(self, problem: str, error: Exception, response: Reply) -> str:
        return f"{problem} ({self._clean(f'{type(error).__name__}: {error}', 100)}): {self._clean(response.text)}"

    def _clean(self, text: str, length: int = 300) -> str:
        """The text as one line without the key, of a longer one its beginning."""
        if self._key:
            key = re.escape(self._key.get_secret_value())
            text = re.sub(key if len(self._key) >= _SECRET_CHARACTERS else rf"(?<!\w){key}(?!\w)", "***", text)
        return beginning(" ".join(text.split()), length)
