"""Servers that speak OpenAI's HTTP: address, key (from the environment alone), and how a request is written.

Needs no library of HTTP: `judge_r1.models.http_client` sends what is written here.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from judge_r1.models.base import Messages


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
