"""Servers that speak OpenAI's HTTP: address, key (from the environment alone), and how a request is written.

Needs no library of HTTP: `judge_r1.models.http_client` sends what is written here.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from pydantic import SecretStr

from judge_r1.core.errors import JudgeError

Messages = Sequence[Mapping[str, str]]


class EndpointError(JudgeError):
    """A server that cannot be asked, or gave no answer in time."""


class RetriesExhausted(EndpointError):
    """One ask without a good answer after all attempts: another one may fare better."""


class RequestRejected(EndpointError):
    """An ask that the server will not take, however often it is put; `said` are its words."""

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


@dataclass(frozen=True)
class OpenAIEndpoint:
    """`base` is the address up to and with `/v1`, `path` what is asked there, `variable` the environment variable with
    the key of whoever asks (a teacher's is not a judge's)."""

    base: str
    model: str
    variable: str
    path: str = "chat/completions"

    @property
    def name(self) -> str:
        return f"{self.base}#{self.model}"

    @property
    def url(self) -> str:
        return f"{self.base}/{self.path}"

    @property
    def key_variables(self) -> tuple[str, ...]:
        """OpenAI's own variable holds OpenAI's key: no other host is shown it."""
        return (self.variable, "OPENAI_API_KEY") if self._openai else (self.variable,)

    @property
    def needs_key(self) -> bool:
        return self._openai

    @property
    def _openai(self) -> bool:
        host = urlsplit(self.base).hostname or ""
        return host == "openai.com" or host.endswith(".openai.com")

    def headers(self, key: str | None) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def chat(self, messages: Messages, *, max_tokens: int, temperature: float, **more: Any) -> dict[str, Any]:
        """The body of a chat request. OpenAI's reasoning models know `max_tokens` by another name and take no
        temperature but their own, which is 1; other servers know the old name only, and have temperatures of their
        own."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(messages),
            "max_completion_tokens" if self._openai else "max_tokens": max_tokens,
        }
        if not (self._openai and temperature == 1):
            body["temperature"] = temperature
        return body | more


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
