"""HTTP endpoints: the errors and limits of a call, API keys from the environment, and checks of a URL.

Needs no HTTP library.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import NamedTuple, Protocol
from urllib.parse import urlsplit

from pydantic import SecretStr

from judge_r1.core.errors import JudgeError


class EndpointError(JudgeError):
    """An endpoint cannot be reached, or every request to it would fail."""


class RetriesExhausted(EndpointError):
    """One request has no valid answer after the last retry. Other requests may succeed."""


class MalformedReply(RetriesExhausted):
    """Every attempt had a reply in another form than that of the API. The message quotes the last one."""


class StatedLengths(NamedTuple):
    """The tokens that a server names where it refuses a request for its length: of its context window, of the prompt,
    and of the longest answer that it writes. None: it does not say. `at_least`: the prompt may be longer."""

    window: int | None = None
    prompt: int | None = None
    answer: int | None = None
    at_least: bool = False


NO_LENGTHS = StatedLengths()
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class RequestRejected(EndpointError):
    """The server rejects this request; a retry would not help. `reason` is the server's message, and `meaning` what it
    says of the request, if that is known: `context_overflow` or `content_filter`."""

    def __init__(
        self, message: str, reason: str = "", meaning: str | None = None, lengths: StatedLengths = NO_LENGTHS
    ) -> None:
        super().__init__(message)
        self.reason, self.meaning, self.lengths = reason, meaning, lengths


class ReplyTooLarge(RequestRejected):
    """The reply exceeds the size limit of the client. It is not read further, and not requested again."""


class KeyHolder(Protocol):
    """An endpoint that may need an API key."""

    @property
    def name(self) -> str: ...

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Environment variables that may hold the key, in order of preference."""
        ...

    @property
    def needs_key(self) -> bool: ...


def find_key(endpoint: KeyHolder, environment: Mapping[str, str] = os.environ) -> SecretStr | None:
    """The key in the first of the variables that is set. Raises EndpointError if a key is needed and none is set."""
    for name in endpoint.key_variables:
        if key := environment.get(name, "").strip():
            if not re.fullmatch(r"[!-~]+", key):
                raise EndpointError(f"the environment variable {name} does not hold a valid key")
            return SecretStr(key)
    if endpoint.needs_key:
        raise EndpointError(f"{endpoint.name} needs a key: set the environment variable {endpoint.key_variables[-1]}")
    return None


def checked_address(url: str, where: str) -> str:
    """The URL without a trailing slash.

    Raises:
        EndpointError: The URL is not valid. The message does not repeat it, because it may contain a secret.
    """
    try:
        parts = urlsplit(url)
        # Reading the port checks it: urlsplit itself accepts a port that is no number.
        _ = parts.port
    except ValueError:
        raise EndpointError(f"{where}: the URL is not valid") from None
    if parts.username or parts.password or parts.query:
        raise EndpointError(
            f"{where}: the URL must not contain a user, password or query; keys come from environment variables"
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointError(f"{where} must be a URL of the form https://host/v1, with http:// or https:// in front")
    return url.rstrip("/")


def address_and_model(text: str, where: str) -> tuple[str, str]:
    """Splits `URL#MODEL`. Raises EndpointError if a part is missing or not valid."""
    url, _, model = text.partition("#")
    address = checked_address(url, where)
    if not model:
        raise EndpointError(f"{where} names no model: add #MODEL to {address}")
    return address, model


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a `Retry-After` header (a number or a date); None if it is missing or not valid."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    now = datetime.now(timezone.utc)
    return max(0.0, ((until if until.tzinfo else until.replace(tzinfo=timezone.utc)) - now).total_seconds())


@dataclass(frozen=True)
class RetryPolicy:
    """Limits of an HTTP client: concurrent calls, seconds per attempt and per call, attempts, those that may take too
    long (a server works on each of them in vain), the first wait, and the bytes of a reply. `options` names the options
    to change where the server is too slow."""

    concurrency: int = 8
    request_s: float = 180.0
    total_s: float = 900.0
    attempts: int = 8
    timeouts: int = 2
    backoff_s: float = 1.0
    reply_bytes: int = 2**26
    options: str = ""


DEFAULT_POLICY = RetryPolicy()
