"""The base of language models behind an OpenAI-compatible endpoint."""

import asyncio
import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from pydantic import SecretStr

from judge_r1.core.endpoint import DEFAULT_POLICY, ReplyTooLarge, RequestRejected, RetriesExhausted, RetryPolicy
from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.endpoint import OpenAIEndpoint
from judge_r1.models.http_client import Client

_DECLINED = {
    "context_overflow": re.compile(
        r"context[ _](length|window)|maximum (context|input|prompt|model) |prompt is too long|too many (input )?tokens|"
        r"longer than the (maximum )?model|max_model_len",
        re.IGNORECASE,
    ),
    "content_filter": re.compile(r"content[ _]?(filter|management|policy)|ResponsibleAI|safety system", re.IGNORECASE),
}


class EndpointModel(ABC):
    """A `LanguageModel` at one endpoint. Call `aclose` when done."""

    def __init__(self, endpoint: OpenAIEndpoint, key: SecretStr | None, policy: RetryPolicy = DEFAULT_POLICY) -> None:
        self.endpoint, self._client = endpoint, Client(endpoint, key, policy)

    @abstractmethod
    def body(self, request: GenerateRequest) -> dict[str, Any]:
        """The body of the HTTP request."""

    @abstractmethod
    def read(self, data: Any, request: GenerateRequest) -> Generation:
        """The generation in a response, without `usage`. The errors of a malformed response are those that
        `Client.post` retries."""

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        """One generation for each request; the client limits how many run concurrently.

        Raises:
            EndpointError: every further request would fail in the same way.
        """
        tasks = [asyncio.ensure_future(self._one(request)) for request in requests]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)  # none outlives this call

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _one(self, request: GenerateRequest) -> Generation:
        started = time.monotonic()

        def read(data: Any) -> Generation:
            generation, counts = self.read(data, request), data.get("usage") or {}
            generation.usage = Usage(
                1, int(counts.get("prompt_tokens") or 0), int(counts.get("completion_tokens") or 0)
            )
            return generation

        try:
            generation = await self._client.post(self.body(request), read)
        except ReplyTooLarge as error:
            return Generation(failure="reply_too_large", error=str(error))
        except RequestRejected as error:
            if name := declined_reason(error.reason):
                return Generation(finish_reason=name, error=str(error))
            return Generation(failure="refused", error=str(error))
        except RetriesExhausted as error:
            return Generation(failure="no_answer", error=str(error))
        generation.usage.seconds = time.monotonic() - started
        return generation


def logprob(value: Any) -> float:
    """A log-probability of a response, at most 0 and at least -9999, OpenAI's lowest. Raises ValueError for NaN."""
    if math.isnan(number := float(value)):
        raise ValueError("a log-probability is NaN")
    return min(max(number, -9999.0), 0.0)


def declined_reason(message: str) -> str | None:
    """The finish reason that an error message of a server means, or None for other errors."""
    return next((name for name, pattern in _DECLINED.items() if pattern.search(message)), None)
