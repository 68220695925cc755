"""Token ids over HTTP: vLLM's /v1/completions takes ids and returns ids with log-probabilities.

With `return_tokens_as_token_ids` the server returns each token as `token_id:N`, so that no text is encoded again. A
stop string ends generation at the id that completes it.
"""

from collections.abc import Mapping
from typing import Any

from judge_r1.core.record_base import content_hash
from judge_r1.models.base import GenerateRequest, Generation
from judge_r1.models.endpoint_model import EndpointModel, logprob

_TOP_LOGPROBS = 5
"""Number of most likely tokens per position. The opposite of a decision is nearly always the second."""
_MARK, _MAX_ID = "token_id:", 2**31


class CompletionsModel(EndpointModel):
    """A `LanguageModel` over token ids, at one endpoint."""

    def body(self, request: GenerateRequest) -> dict[str, Any]:
        if request.prompt_ids is None:
            raise ValueError("a completions endpoint needs prompt_ids, not messages")
        if request.allowed_ids is not None:
            raise ValueError("a completions endpoint takes no allowed_ids")
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "prompt": list(request.prompt_ids),
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "logprobs": _TOP_LOGPROBS,
            "return_tokens_as_token_ids": True,
            "stop": list(request.stop),
            "include_stop_str_in_output": True,
            "stop_token_ids": sorted(request.stop_ids),
            "skip_special_tokens": False,
        }
        if request.temperature:  # each part of a text needs its own seed, because every request restarts the generator
            body["seed"] = int(content_hash(request.seed, request.seed_offset), 16) % 2**63
        return body

    def least_tokens(self, request: GenerateRequest) -> int:
        return len(request.prompt_ids or ())

    def read(self, data: Any, request: GenerateRequest) -> Generation:
        """Raises the errors that `Client.post` retries, for an answer without ids or without log-probabilities."""
        choice = data["choices"][0]
        returned = choice["logprobs"]
        if returned is None:
            raise ValueError("it has no logprobs, which contain the ids")
        ids = []
        for token in returned["tokens"]:
            if not token.startswith(_MARK):
                raise ValueError(f"token {token!r} is not an id: the server must support return_tokens_as_token_ids")
            if not 0 <= (number := int(token[len(_MARK) :])) < _MAX_ID:
                raise ValueError(f"token {token!r} is outside any vocabulary")
            ids.append(number)
        logprobs = [logprob(value) for value in returned["token_logprobs"]]
        top: list[Mapping[str, float] | None] = returned.get("top_logprobs") or [None] * len(ids)
        if not len(ids) == len(logprobs) == len(top):
            raise ValueError(f"{len(ids)} ids with {len(logprobs)} log-probabilities")
        alternatives = {
            index: logprob(value)
            for index, (token, candidates) in enumerate(zip(ids, top, strict=True))
            if (value := (candidates or {}).get(f"{_MARK}{request.alternatives.get(token)}")) is not None
        }
        return Generation(
            text=choice.get("text") or "",
            token_ids=ids,
            logprobs=logprobs,
            alternatives=alternatives,
            finish_reason="length" if choice.get("finish_reason") == "length" else "stop",
            failure=None if ids else "no_ids",
        )
