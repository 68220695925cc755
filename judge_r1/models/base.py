"""The protocol that every language model implements: requests in, generations out.

Episodes, ratings, single answers and judges of several calls all use `LanguageModel.generate`. Chat endpoints take
`messages`; token models (the local engine and vLLM's completions) take `prompt_ids` and return ids with
log-probabilities.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from judge_r1.models.text_tokenizer import FastTokenizer

Messages = Sequence[Mapping[str, str]]
"""Chat messages, each with `role` and `content`."""
IGNORED = -100
"""The label of a token without a loss."""


@dataclass(frozen=True)
class Sampling:
    """How tokens are sampled. Temperature 0 is greedy. A request's samples depend on its seed alone, not on the batch
    it runs in."""

    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True)
class GenerateRequest:
    """One text to generate, from either `messages` or `prompt_ids`.

    `seed_offset` is the number of tokens already sampled with `seed`: a text generated in several requests gets the
    samples it would get in one. Generation stops at one of `stop_ids`, at the token that completes one of the `stop`
    strings (token models keep that token), or after `max_tokens`.
    """

    max_tokens: int
    messages: Messages | None = None
    prompt_ids: Sequence[int] | None = None
    temperature: float = 0.0
    seed: int = 0
    seed_offset: int = 0
    sample: int = 0
    """Chat models: the number of a repeated request. It is sent in place of `seed`, also at temperature 0, so that no
    gateway answers the request from its cache."""
    stop: Sequence[str] = ()
    stop_ids: frozenset[int] = frozenset()
    allowed_ids: frozenset[int] | None = None
    """The local engine: the ids that may be sampled. Endpoints accept only None, which allows all."""
    alternatives: Mapping[int, int] = field(default_factory=dict)
    """Token models: where the key is sampled, the log-probability of the value at that position is returned too."""
    prefix: str = ""
    """Chat models: the beginning of the last message that later requests share. A provider may read it from its cache.
    """
    thinking: bool | None = None
    """Chat models: whether the server's chat template turns thinking on; None leaves it to the server."""
    top_logprobs: int = 0
    """Chat models: the number of most likely tokens to return for each position."""

    def __post_init__(self) -> None:
        if (self.messages is None) == (self.prompt_ids is None):
            raise ValueError("a request needs either messages or prompt_ids")
        if self.max_tokens < 1 or (self.prompt_ids is not None and not len(self.prompt_ids)):
            raise ValueError("a request needs a token to continue and max_tokens of at least 1")
        if self.allowed_ids is not None and not self.allowed_ids:
            raise ValueError("a request needs at least one id that it may sample")


@dataclass
class Usage:
    """Answered calls, tokens as the model counts them (of the input, those that a provider read from its cache and
    stored there), seconds from request to answer, answers that a chat endpoint truncated at the limit of tokens,
    prompts that it cut, and what its replies say of themselves: `NAME=VALUE` with the number of replies (`model`,
    `system_fingerprint`, and `max_tokens` where it took a lower limit only)."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    truncated: int = 0
    cut_prompts: int = 0
    cached_tokens: int = 0
    stored_tokens: int = 0
    replies: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Usage") -> None:
        for name, count in vars(other).items():
            setattr(self, name, getattr(self, name) + count)

    def as_dict(self) -> dict[str, float]:
        """The counts by name, with those of `replies`; without rare ones where they are 0."""
        counts: dict[str, float] = {**vars(self), "seconds": round(self.seconds, 3)}
        del counts["replies"]
        rare = ("truncated", "cut_prompts", "cached_tokens", "stored_tokens")
        return {name: n for name, n in counts.items() if n or name not in rare} | self.replies


@dataclass
class Generation:
    """What a model returned for one request.

    `finish_reason` is "stop", "length", or the name of an answer that the model declined to give (`context_overflow`,
    `content_filter`, `refusal`): a declined answer counts against the model. `failure` names an infrastructure failure
    (`no_answer`, `refused`, `malformed_reply`, `reply_too_large`, `no_ids`, `generation_timeout`), which does not.
    `error` is the server's message.
    """

    text: str = ""
    reasoning: str = ""
    token_ids: Sequence[int] = ()
    logprobs: Sequence[float] = ()
    """Log-probability of each of `token_ids` under the distribution it was sampled from."""
    alternatives: Mapping[int, float] = field(default_factory=dict)
    """Index in `token_ids` -> log-probability of the requested alternative."""
    top_logprobs: Sequence[Mapping[str, Any]] = ()
    """Chat models: `logprobs.content` of the API."""
    finish_reason: str = "stop"
    failure: str | None = None
    error: str = ""
    usage: Usage = field(default_factory=Usage)

    @property
    def declined(self) -> bool:
        return self.failure is None and self.finish_reason not in ("stop", "length")


class LanguageModel(Protocol):
    """A source of text or tokens."""

    async def generate(self, requests: Sequence[GenerateRequest]) -> list[Generation]:
        """One generation for each request, in order. Calls may overlap; their requests share batches.

        Raises:
            EndpointError: every further request would fail in the same way (a wrong key, no such model).
        """
        ...


def text_decoder(tokenizer: Any) -> Callable[[Sequence[int]], str]:
    """A function that returns the text of ids, with special tokens and without clean-up."""
    if decodes_directly(tokenizer):
        backend = tokenizer.backend_tokenizer
        return lambda ids: str(backend.decode(list(ids), skip_special_tokens=False))
    return lambda ids: str(tokenizer.decode(list(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False))


def decodes_directly(tokenizer: Any) -> bool:
    """Whether `decode` does nothing but call the tokenizers library: it is the usual one of transformers. Its checks of
    the arguments take several times as long as the decoding."""
    if isinstance(tokenizer, FastTokenizer):
        return True
    places = ("decode", "tokenization_utils_base"), ("_decode", "tokenization_utils_tokenizers")
    return all(
        getattr(getattr(type(tokenizer), name, None), "__module__", "") == f"transformers.{module}"
        for name, module in places
    )
