"""HTTP endpoints: the errors of a call, API keys from the environment, and checks of a URL.

Needs no HTTP library.
"""

import os
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Protocol
from urllib.parse import urlsplit

from pydantic import SecretStr

from judge_r1.core.errors import JudgeError


class EndpointError(JudgeError):
    """A server that cannot be asked, or gave no answer in time."""


class RetriesExhausted(EndpointError):
    """One ask without a good answer after all attempts: another one may fare better."""


class RequestRejected(EndpointError):
    """An ask that the server will not take, however often it is put; `said` are its words."""

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


class Keyed(Protocol):
    """Whoever may need a key."""

    @property
    def name(self) -> str: ...

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The environment variables that may hold it, best first."""
        ...

    @property
    def needs_key(self) -> bool: ...


def find_key(asked: Keyed, environment: Mapping[str, str] = os.environ) -> SecretStr | None:
    """The key in the first of the variables that is set. Errors: EndpointError where one is needed."""
    for name in asked.key_variables:
        if key := environment.get(name, "").strip():
            if not re.fullmatch(r"[!-~]+", key):
                raise EndpointError(f"the environment variable {name} holds something that cannot be a key")
            return SecretStr(key)
    if asked.needs_key:
        raise EndpointError(f"{asked.name} needs a key: put it into the environment variable {asked.key_variables[-1]}")
    return None


def checked_address(url: str, where: str) -> str:
    """The URL without a slash at its end. Errors: EndpointError, which repeats nothing of the URL: it may hold a
    secret in any place."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise EndpointError(f"{where}: the URL cannot be read") from None
    if parts.username or parts.password or parts.query:
        raise EndpointError(f"{where}: a URL holds no user, password or query; keys come from environment variables")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise EndpointError(f"{where} has no URL of the form https://host/v1")
    return url.rstrip("/")


def address_and_model(text: str, where: str) -> tuple[str, str]:
    """`URL#MODEL` in its two parts. Errors: EndpointError."""
    url, _, model = text.partition("#")
    address = checked_address(url, where)
    if not model:
        raise EndpointError(f"{where} names no model: write {address}#MODEL")
    return address, model


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a `Retry-After` header asks for, be it a number or a date; None without one that can be read."""
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
