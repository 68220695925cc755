"""A `LanguageModel` for Anthropic's API: takes messages, returns text (POST /v1/messages)."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge_r1.core.endpoint import EndpointError, checked_address
from judge_r1.core.text_check import valid_utf8
from judge_r1.models.base import GenerateRequest, Generation
from judge_r1.models.openai_chat import ChatModel

PREFIX = "anthropic:"
API, VERSION = "https://api.anthropic.com", "2023-06-01"
_FINISH = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "content_filter"}
"""Stop reasons of answers that do not end by themselves. A filter of the API refuses: the model's refusals are text."""


@dataclass(frozen=True)
class AnthropicEndpoint:
    """A model of Anthropic's API. `base` is the address without `/v1`."""

    model: str
    base: str = API

    @classmethod
    def of_backend(cls, backend: str, environment: Mapping[str, str] = os.environ) -> "AnthropicEndpoint":
        """That of `anthropic:MODEL`; `ANTHROPIC_BASE_URL` replaces the address. Raises: EndpointError."""
        if not re.fullmatch(r"[\w.:@/-]+", model := backend.removeprefix(PREFIX)):
            raise EndpointError(f"the SPEC names no model: write {PREFIX}MODEL")
        return cls(model, checked_address(environment.get("ANTHROPIC_BASE_URL") or API, "ANTHROPIC_BASE_URL"))

    @property
    def name(self) -> str:
        return f"{PREFIX}{self.model}"

    @property
    def url(self) -> str:
        return f"{self.base}/v1/messages"

    @property
    def key_variables(self) -> tuple[str, ...]:
        return ("ANTHROPIC_API_KEY",)

    @property
    def needs_key(self) -> bool:
        return True

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})


class MessagesModel(ChatModel):
    """A `LanguageModel` at one model of Anthropic's API."""

    def body(self, request: GenerateRequest) -> dict[str, Any]:
        """The API has no seed: repeated requests differ in the user id, so that a caching gateway does not answer them
        alike. Temperature 1 is the default and is left out, because some models accept no value."""
        messages = self.messages(request)
        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        return {
            "model": self.endpoint.model,
            "max_tokens": request.max_tokens,
            "messages": _marked([dict(message) for message in messages if message["role"] != "system"], request.prefix),
            **({"system": system} if system else {}),
            **({"temperature": request.temperature} if request.temperature != 1 else {}),
            **({"stop_sequences": list(request.stop)} if request.stop else {}),
            **({"metadata": {"user_id": f"sample-{request.sample}"}} if request.sample else {}),
        }

    def read(self, data: Any, request: GenerateRequest) -> Generation:
        texts = {
            kind: "".join(block[kind] for block in data["content"] if block["type"] == kind)
            for kind in ("text", "thinking")
        }
        return Generation(
            text=valid_utf8(texts["text"]),
            reasoning=valid_utf8(texts["thinking"]),
            finish_reason=_FINISH.get(data["stop_reason"], "stop"),
        )

    def counts(self, usage: Mapping[str, Any]) -> tuple[int, int, int, int]:
        cached, stored = (usage.get(f"cache_{name}_input_tokens") or 0 for name in ("read", "creation"))
        prompt, answer = (usage.get(f"{name}_tokens") or 0 for name in ("input", "output"))
        return prompt + cached + stored, answer, cached, stored


def _marked(messages: list[dict[str, Any]], prefix: str) -> list[dict[str, Any]]:
    """The messages, with a mark at the end of what other requests share. What precedes the mark, the system text too,
    is stored for five minutes and read by requests with the same beginning."""
    if prefix:
        rest = messages[-1]["content"].removeprefix(prefix)
        shared = {"type": "text", "text": prefix, "cache_control": {"type": "ephemeral"}}
        messages[-1]["content"] = [shared, *([{"type": "text", "text": rest}] if rest else [])]
    return messages
