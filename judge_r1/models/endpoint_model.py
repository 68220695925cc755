"""The base of language models behind an OpenAI-compatible endpoint."""

import asyncio
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import SecretStr

from judge_r1.core.endpoint import (
    DEFAULT_POLICY,
    MalformedReply,
    ReplyTooLarge,
    RequestRejected,
    RetriesExhausted,
    RetryPolicy,
)
from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.endpoint import OpenAIEndpoint


class EndpointModel(ABC):
    """A `LanguageModel` at one endpoint. Call `aclose` when done."""

    whole_turns: ClassVar[bool] = False
    """Whether an answer at the limit of tokens is truncated, and not a part that the next request continues."""

    def __init__(self, endpoint: OpenAIEndpoint, key: SecretStr | None, policy: RetryPolicy = DEFAULT_POLICY) -> None:
        from judge_r1.models.http_client import Client

        self.endpoint, self._client = endpoint, Client(endpoint, key, policy)
        self._answers, self._pause_s = False, policy.backoff_s

    @abstractmethod
    def body(self, request: GenerateRequest) -> dict[str, Any]:
        """The body of the HTTP request."""

    @abstractmethod
    def read(self, data: Any, request: GenerateRequest) -> Generation:
        """The generation in a response, without `usage`. Raises the errors that tell `Client.post` of a reply in
        another form."""

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        """One generation for each request; the client limits how many run concurrently.

        Raises:
            EndpointError: every further request would fail in the same way.
        """
        if len(requests) == 1:
            return [await self._one(requests[0])]
        tasks = [asyncio.ensure_future(self._one(request)) for request in requests]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)  # none outlives this call

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _one(self, request: GenerateRequest, *, again: bool = False) -> Generation:
        """A server that answers other requests is asked again (`again`) about one that it refuses."""
        started = time.monotonic()

        def read(data: Any) -> Generation:
            generation, counts = self.read(data, request), data.get("usage") or {}
            tokens = int(counts.get("prompt_tokens") or 0), int(counts.get("completion_tokens") or 0)
            truncated = self.whole_turns and generation.finish_reason == "length"
            generation.usage = Usage(1, *tokens, truncated=int(truncated))
            return generation

        try:
            generation = await self._client.post(self.body(request), read)
        except ReplyTooLarge as error:
            return Generation(failure="reply_too_large", error=str(error))
        except RequestRejected as error:
            if error.meaning is not None:
                return Generation(finish_reason=error.meaning, error=str(error))
            if self._answers and not again:
                await asyncio.sleep(self._pause_s)
                return await self._one(request, again=True)
            return Generation(failure="refused", error=str(error))
        except MalformedReply as error:
            return Generation(failure="malformed_reply", error=str(error))
        except RetriesExhausted as error:
            return Generation(failure="no_answer", error=str(error))
        self._answers = True
        generation.usage.seconds = time.monotonic() - started
        return generation


def logprob(value: Any) -> float:
    """A log-probability of a response, at most 0 and at least -9999, OpenAI's lowest. Raises ValueError for NaN."""
    if math.isnan(number := float(value)):
        raise ValueError("a log-probability is NaN")
    return min(max(number, -9999.0), 0.0)
