"""The base of language models behind an OpenAI-compatible endpoint."""

import asyncio
import logging
import math
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import SecretStr

from judge_r1.core.endpoint import (
    DEFAULT_POLICY,
    MalformedReply,
    ReplyTooLarge,
    RequestRejected,
    RetriesExhausted,
    RetryPolicy,
    StatedLengths,
)
from judge_r1.core.text_check import valid_utf8
from judge_r1.models.base import GenerateRequest, Generation, Usage
from judge_r1.models.error_reply import fitting_answer

_log = logging.getLogger(__name__)
_LOWERED = 8
"""How often one request is sent again for a shorter answer."""
_NAME_LENGTH = 200
"""Characters of a name in a reply that are kept."""
_WINDOW_OPTIONS = "vLLM: --max-model-len, SGLang: --context-length, llama.cpp: -c, Ollama: OLLAMA_CONTEXT_LENGTH"


class EndpointModel(ABC):
    """A `LanguageModel` at one endpoint. Call `aclose` when done. A reply that `needs_usage` and does not say how many
    tokens it took has another form."""

    whole_turns: ClassVar[bool] = False
    """Whether an answer at the limit of tokens is truncated, and not a part that the next request continues."""

    def __init__(
        self, endpoint: Any, key: SecretStr | None, policy: RetryPolicy = DEFAULT_POLICY, *, needs_usage: bool = False
    ) -> None:
        from judge_r1.models.http_client import Client

        self.endpoint, self._client, self._needs_usage = endpoint, Client(endpoint, key, policy), needs_usage
        self._answers, self._pause_s = False, policy.backoff_s
        self._most: dict[int, int] = {}  # the longest answer that the server writes at all, by what is asked
        self._warned: set[str] = set()

    @abstractmethod
    def body(self, request: GenerateRequest) -> dict[str, Any]:
        """The body of the HTTP request."""

    @abstractmethod
    def read(self, data: Any, request: GenerateRequest) -> Generation:
        """The generation in a response, without `usage`. Raises the errors that tell `Client.post` of a reply in
        another form."""

    @abstractmethod
    def least_tokens(self, request: GenerateRequest) -> int:
        """The fewest tokens that the server can count in the prompt of a request, if it reads all of it."""

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

    async def _one(self, request: GenerateRequest) -> Generation:
        """A server that answers other requests is asked again about one that it refuses, and for a shorter answer where
        the one asked for does not fit."""
        started, again, lowered, least = time.monotonic(), False, 0, self.least_tokens(request)
        asked = replace(request, max_tokens=self._most.get(request.max_tokens, request.max_tokens))
        while True:

            def read(data: Any, asked: GenerateRequest = asked) -> Generation:
                generation = self.received(data, asked, least)
                if asked.max_tokens < request.max_tokens:
                    generation.usage.replies[f"max_tokens={asked.max_tokens}"] = 1
                return generation

            try:
                generation = await self._client.post(self.body(asked), read)
                break
            except ReplyTooLarge as error:
                return Generation(failure="reply_too_large", error=str(error))
            except RequestRejected as error:
                if lowered < _LOWERED and (shorter := fitting_answer(error.lengths, asked.max_tokens)):
                    lowered += 1
                    if error.lengths.prompt is None and asked.max_tokens == request.max_tokens:
                        self._most[request.max_tokens] = shorter  # whatever the prompt
                    self._warn_of_answer(error.lengths, request.max_tokens, shorter)
                    asked = replace(request, max_tokens=shorter)
                    continue
                if error.meaning == "context_overflow":
                    self._warn_of_prompt(error)
                if error.meaning is not None:
                    return Generation(finish_reason=error.meaning, error=str(error))
                if not self._answers or again:
                    return Generation(failure="refused", error=str(error))
                again = True
                await asyncio.sleep(self._pause_s)
            except MalformedReply as error:
                return Generation(failure="malformed_reply", error=str(error))
            except RetriesExhausted as error:
                return Generation(failure="no_answer", error=str(error))
        self._answers = True
        generation.usage.seconds = time.monotonic() - started
        return generation

    def received(self, data: Any, request: GenerateRequest, least: int = 0) -> Generation:
        """The generation in a response, with its usage. Raises: as `read`."""
        generation = self.read(data, request)
        generation.usage = self._usage(data, generation, least)
        return generation

    def counts(self, usage: Mapping[str, Any]) -> tuple[int, int, int, int]:
        """The tokens in the `usage` of a response: of the prompt and of the answer, and of the prompt those that the
        provider read from its cache and stored there."""
        details = usage.get("prompt_tokens_details")
        cached = details.get("cached_tokens") if isinstance(details, dict) else None
        prompt, answer = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
        return prompt, answer, cached if isinstance(cached, int) else 0, 0

    def _usage(self, data: Any, generation: Generation, least: int) -> Usage:
        """The usage of a reply. A prompt of fewer than `least` tokens was cut."""
        prompt, answer, cached, stored = self.counts(data["usage"] if self._needs_usage else data.get("usage") or {})
        if self._needs_usage and not prompt + answer:
            raise KeyError("usage")
        read = prompt + cached  # added, because some servers count only what they did not have in a cache
        truncated, cut = self.whole_turns and generation.finish_reason == "length", prompt > 0 and read < least
        if cut:
            self._warn(
                "a cut prompt",
                f"the server counts {read:,} tokens in a prompt that has at least {least:,}: it cuts prompts, and the "
                f"model did not read all of this one. Give the server a longer context ({_WINDOW_OPTIONS}), and "
                "run again in another folder",
            )
        names = [(name, data.get(name)) for name in ("model", "system_fingerprint")]
        said = [
            f"{name}={valid_utf8(value[:_NAME_LENGTH])}" for name, value in names if value and isinstance(value, str)
        ]
        return Usage(
            calls=1,
            input_tokens=prompt,
            output_tokens=answer,
            truncated=int(truncated),
            cut_prompts=int(cut),
            cached_tokens=cached,
            stored_tokens=stored,
            replies=Counter(said),
        )

    def _warn_of_answer(self, stated: StatedLengths, asked: int, shorter: int) -> None:
        window = f", whose window is {stated.window:,} tokens," if stated.window else ""
        beside = f" beside a prompt of {stated.prompt:,}" if stated.prompt and not stated.at_least else ""
        self._warn(
            "a long answer",
            f"the server{window} takes no answer of up to {asked:,} tokens{beside}: such requests are sent again with "
            f"what fits ({shorter:,} here). To ask for less at once, set budget.response_tokens of the judge; for more "
            f"room, give the server a longer context ({_WINDOW_OPTIONS})",
        )

    def _warn_of_prompt(self, error: RequestRejected) -> None:
        stated = error.lengths
        least = "at least " if stated.at_least else ""
        prompt = f"a prompt of {least}{stated.prompt:,} tokens" if stated.prompt else "a prompt"
        window = f", whose window is {stated.window:,} tokens" if stated.window else ""
        self._warn(
            "a long prompt",
            f"{prompt} does not fit, with an answer, into the server{window}. Such items count as wrong and are "
            f"reported as `does not fit`: give the server a longer context ({_WINDOW_OPTIONS}), or take a model that "
            f"reads more. The server says: {error.reason}",
        )

    def _warn(self, kind: str, text: str) -> None:
        """A warning of one kind, once."""
        if kind not in self._warned:
            self._warned.add(kind)
            _log.warning("%s: %s", self.endpoint.name, text)


def logprob(value: Any) -> float:
    """A log-probability of a response, at most 0 and at least -9999, OpenAI's lowest. Raises ValueError for NaN."""
    if math.isnan(number := float(value)):
        raise ValueError("a log-probability is NaN")
    return min(max(number, -9999.0), 0.0)
