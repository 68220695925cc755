"""OpenAI-compatible endpoints: address, key variables and request bodies. `http_client` sends them."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from judge_r1.models.base import Messages

TOKEN_FIELDS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class OpenAIEndpoint:
    """`base` is the address up to and including `/v1`, `path` the route below it. `variable` names the environment
    variable with the key: judges and teachers have different ones. `token_field` is the field with the limit of tokens
    (one of `TOKEN_FIELDS`); None for that of the host."""

    base: str
    model: str
    variable: str
    path: str = "chat/completions"
    token_field: str | None = None

    @property
    def name(self) -> str:
        return f"{self.base}#{self.model}"

    @property
    def url(self) -> str:
        return f"{self.base}/{self.path}"

    @property
    def key_variables(self) -> tuple[str, ...]:
        """`OPENAI_API_KEY` is read for OpenAI's hosts only."""
        return (self.variable, "OPENAI_API_KEY") if self.is_openai else (self.variable,)

    @property
    def needs_key(self) -> bool:
        return self.is_openai

    @property
    def is_openai(self) -> bool:
        """Whether it is a host of OpenAI."""
        host = urlsplit(self.base).hostname or ""
        return host == "openai.com" or host.endswith(".openai.com")

    def headers(self, key: str | None) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def chat(self, messages: Messages, *, max_tokens: int, temperature: float, **more: Any) -> dict[str, Any]:
        """The body of a chat request. OpenAI's reasoning models need `max_completion_tokens` and accept no temperature
        other than 1; other servers know `max_tokens` only, and have other default temperatures. A gateway to OpenAI's
        models needs `token_field`."""
        older, newer = TOKEN_FIELDS
        field = self.token_field or (newer if self.is_openai else older)
        body: dict[str, Any] = {"model": self.model, "messages": list(messages), field: max_tokens}
        if not ((self.is_openai or field == newer) and temperature == 1):
            body["temperature"] = temperature
        return body | more
