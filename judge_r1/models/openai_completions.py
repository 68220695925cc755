"""Token in, token out over HTTP: vLLM's /v1/completions, asked with ids and answering with ids and log-probabilities.

It drives the same episode machine as the local backend. `return_tokens_as_token_ids` makes the server write each token
as `token_id:N`, so that nothing is ever encoded again; stop strings stop a turn at the id that completes one.
"""

import time
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pydantic import SecretStr

from judge_r1.core.records import content_hash
from judge_r1.episode.machine import Episode, Finished, Sample
from judge_r1.episode.tags import STOP_STRINGS
from judge_r1.models.endpoint import OpenAIEndpoint
from judge_r1.models.episode_driver import CaseSearch, Usage, answered, search_into
from judge_r1.models.http_client import DEFAULT_POLICY, Client, RetryPolicy

_LIKELIEST = 5
"""Tokens in the place of each that are asked for: the rival of a decision is nearly always the second."""
_MARK = "token_id:"


class Drawn(NamedTuple):
    """The ids of a turn, or of a part of one, with what is known of each."""

    ids: list[int]
    logprobs: list[float]
    likeliest: list[Mapping[str, float]]
    spent: Mapping[str, Any]


class CompletionsBackend:
    """One endpoint under one temperature; `eos_ids` end a turn; `flips` as for the local backend."""

    def __init__(
        self,
        endpoint: OpenAIEndpoint,
        key: SecretStr | None,
        limits: RetryPolicy = DEFAULT_POLICY,
        *,
        eos_ids: Collection[int],
        temperature: float = 0.0,
        flips: Mapping[int, int] | None = None,
    ) -> None:
        self._endpoint, self._temperature = endpoint, temperature
        self._eos_ids, self._flips = sorted(eos_ids), flips or {}
        self._client = Client(endpoint, key, limits)

    async def aclose(self) -> None:
        await self._client.aclose()

    async def run_episode(self, episode: Episode, search: CaseSearch, usage: Usage) -> None:
        """The episode to its end. Errors: EndpointError for what would befall any other, too."""
        while not isinstance(episode.state, Finished):
            if isinstance(episode.state, Sample):
                await answered(episode, self._turn(episode, episode.state.max_tokens, usage))
            else:
                await search_into(episode, search)

    async def _turn(self, episode: Episode, max_tokens: int, usage: Usage) -> None:
        started = time.monotonic()
        drawn = await self._client.post(self._body(episode, max_tokens), _read)
        usage.seconds += time.monotonic() - started
        usage.calls += 1
        usage.input_tokens += drawn.spent.get("prompt_tokens") or 0
        usage.output_tokens += drawn.spent.get("completion_tokens") or 0
        if not drawn.ids:
            episode.abort("no_ids")
            return
        for at, (token, likeliest) in enumerate(zip(drawn.ids, drawn.likeliest, strict=True), len(episode.token_ids)):
            rival = likeliest.get(f"{_MARK}{self._flips.get(token)}")
            if rival is not None:
                episode.alternative_logprobs[at] = rival
        episode.feed(drawn.ids, drawn.logprobs)

    def _body(self, episode: Episode, max_tokens: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "prompt": [*episode.prompt_ids, *episode.token_ids],
            "max_tokens": max_tokens,
            "temperature": self._temperature,
            "logprobs": _LIKELIEST,
            "return_tokens_as_token_ids": True,
            "stop": list(STOP_STRINGS) if episode.answer_in_tags else [],
            "include_stop_str_in_output": True,
            "stop_token_ids": self._eos_ids,
            "skip_special_tokens": False,
        }
        if self._temperature:  # the next part of a turn must not be drawn by the numbers of the part before
            body["seed"] = int(content_hash(episode.seed, len(episode.token_ids)), 16) % 2**63
        return body


def _read(data: Any) -> Drawn:
    """Errors: those of `Client.post` for an answer without ids or without their log-probabilities."""
    told = data["choices"][0]["logprobs"]
    if told is None:
        raise ValueError("it holds no logprobs, which carry the ids")
    ids = []
    for token in told["tokens"]:
        if not token.startswith(_MARK):
            raise ValueError(f"token {token!r} is no id: the server must know return_tokens_as_token_ids, as vLLM does")
        ids.append(int(token[len(_MARK) :]))
    logprobs = [float(value) for value in told["token_logprobs"]]
    likeliest = told.get("top_logprobs") or [{}] * len(ids)
    if not len(ids) == len(logprobs) == len(likeliest):
        raise ValueError(f"{len(ids)} ids with {len(logprobs)} log-probabilities")
    return Drawn(ids, logprobs, [entry or {} for entry in likeliest], data.get("usage") or {})
