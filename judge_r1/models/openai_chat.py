"""A `LanguageModel` for OpenAI-compatible chat endpoints: takes messages, returns text."""

from collections.abc import Sequence
from typing import Any

from pydantic import SecretStr

from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.endpoint import OpenAIEndpoint
from judge_r1.models.http_client import DEFAULT_POLICY, Client, RetryPolicy, post_all


class ChatModel:
    """A `LanguageModel` at one chat endpoint. Servers omit the stop string from the text they return."""

    def __init__(self, endpoint: OpenAIEndpoint, key: SecretStr | None, policy: RetryPolicy = DEFAULT_POLICY) -> None:
        self._endpoint, self._client = endpoint, Client(endpoint, key, policy)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        return await post_all(self._client, requests, self._body, _read)

    def _body(self, request: GenerateRequest) -> dict[str, Any]:
        if request.messages is None:
            raise ValueError("a chat endpoint needs messages, not prompt_ids")
        more: dict[str, Any] = {"stop": list(request.stop)} if request.stop else {}
        if request.temperature:
            more["seed"] = request.seed % 2**31
        if request.top_logprobs:
            more |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        return self._endpoint.chat(
            request.messages, max_tokens=request.max_tokens, temperature=request.temperature, **more
        )


def _read(data: Any, request: GenerateRequest) -> Generation:
    choice = data["choices"][0]
    message, finish = choice["message"], choice["finish_reason"]
    text, reasoning = message["content"] or "", message.get("reasoning_content") or message.get("reasoning") or ""
    if finish == "content_filter":
        pass
    elif not text and (refusal := message.get("refusal")):
        text, finish = refusal, "refusal"
    elif finish != "length":
        finish = "stop"
    counts = data.get("usage") or {}
    return Generation(
        text=_encodable(text),
        reasoning=_encodable(reasoning),
        top_logprobs=(choice.get("logprobs") or {}).get("content") or (),
        finish_reason=finish,
        usage=Usage(1, counts.get("prompt_tokens") or 0, counts.get("completion_tokens") or 0),
    )


def _encodable(text: str) -> str:
    """Replaces lone surrogates, which JSON can escape and UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()
