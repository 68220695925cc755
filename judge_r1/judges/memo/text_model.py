"""Prompts in, text out, for a local model, a chat endpoint or a server of token ids alike."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from judge_r1.core.endpoint import address_and_model, find_key
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import CONTEXT_OVERFLOW
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.backend_spec import KEY, is_local
from judge_r1.judges.base import BadJudge, JudgeBuild
from judge_r1.judges.memo.config import MemoConfig
from judge_r1.judges.memo.prompts import summary_prompt
from judge_r1.judges.memo.scanner import WordCounter
from judge_r1.models.base import GenerateRequest, Generation, LanguageModel, Usage
from judge_r1.models.endpoint import OpenAIEndpoint
from judge_r1.models.http_client import RetryPolicy

if TYPE_CHECKING:
    from judge_r1.models.engine import BackgroundModel

_VLLM = "vllm:"


class TokenCounter(WordCounter):
    """Counts and cuts by the tokens of a tokenizer, without special tokens."""

    unit = "tokens"

    def __init__(self, tokenizer: SafeTokenizer) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode_untrusted(text))

    def tail(self, text: str, tokens: int) -> str:
        return self._tokenizer.decode(self._tokenizer.encode_untrusted(text)[-tokens:]) if tokens else ""


@dataclass(frozen=True)
class TextModel:
    """A language model with what is needed to write prompts for it. Without a tokenizer it takes chat messages.

    `thinking` sets the switch of the chat template; None is off for token models, and the server's default for chat.
    `switch` is a line at the start of the system message, for models that are switched by text.
    """

    model: LanguageModel
    tokenizer: SafeTokenizer | None = None
    eos_ids: frozenset[int] = frozenset()
    context_length: int | None = None
    temperature: float = 0.0
    seed: int = 0
    retries: int = 0
    thinking: bool | None = None
    switch: str = ""

    def of_sample(self, sample: int) -> "TextModel":
        """The model with the seed of a repeated request. At temperature 0 all samples are the same request."""
        if not sample or not self.temperature:
            return self
        return replace(self, seed=int(content_hash(self.seed, sample), 16))

    async def complete(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        """One generation for each prompt, in one batch. Answers that were cut off are asked for again with twice the
        tokens, because at temperature 0 the same request is cut off again. `usage` covers all attempts."""
        done = await self._attempt(prompts, max_tokens)
        for attempt in range(1, self.retries + 1):
            cut = [place for place, found in enumerate(done) if _cut_off(found)]
            if not cut:
                break
            again = await self._attempt([prompts[place] for place in cut], max_tokens * 2**attempt)
            for place, found in zip(cut, again, strict=True):
                spent = Usage()
                spent.add(done[place].usage)
                spent.add(found.usage)
                if found.finish_reason != CONTEXT_OVERFLOW:
                    done[place] = found
                done[place].usage = spent
        return done

    async def _attempt(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        requests = [self._request(prompt, max_tokens) for prompt in prompts]
        sent = [request for request in requests if request is not None]
        answers = iter(await self.model.generate(sent) if sent else [])
        found = [Generation(finish_reason=CONTEXT_OVERFLOW) if one is None else next(answers) for one in requests]
        return [self._as_text(generation) for generation in found]

    def _request(self, prompt: Prompt, max_tokens: int) -> GenerateRequest | None:
        """None if prompt and answer exceed the model's context."""
        messages = self._switched(prompt).chat()
        seed = int(content_hash(self.seed, messages), 16) % 2**63
        if self.tokenizer is None:
            return GenerateRequest(
                max_tokens, messages=messages, temperature=self.temperature, seed=seed, thinking=self.thinking
            )
        ids = self.prompt_ids(prompt)
        if self.context_length is not None and len(ids) + max_tokens > self.context_length:
            return None
        return GenerateRequest(
            max_tokens, prompt_ids=ids, temperature=self.temperature, seed=seed, stop_ids=self.eos_ids
        )

    def prompt_ids(self, prompt: Prompt) -> list[int]:
        """The prompt as a token model reads it."""
        assert self.tokenizer is not None
        return self.tokenizer.prompt_ids(self._switched(prompt), thinking=bool(self.thinking))

    def _switched(self, prompt: Prompt) -> Prompt:
        if not self.switch:
            return prompt
        first, *others = prompt.messages
        switched = replace(first, marked=f"{self.switch}\n\n{first.marked}")
        return replace(prompt, messages=(switched, *others))

    def _as_text(self, generation: Generation) -> Generation:
        """A generation of token ids with its text up to the first token that ends it."""
        if self.tokenizer is None or not generation.token_ids:
            return generation
        ends = self.tokenizer.control | self.eos_ids
        ids = list(generation.token_ids)
        stopped = next((place for place, token in enumerate(ids) if token in ends), None)
        finish = "stop" if stopped is not None else generation.finish_reason
        return replace(generation, text=self.tokenizer.decode(ids[:stopped]), finish_reason=finish)


def _cut_off(generation: Generation) -> bool:
    return generation.failure is None and generation.finish_reason == "length"


def _can_think(tokenizer: SafeTokenizer) -> bool:
    """Whether the chat template has a switch for thinking."""
    prompt = summary_prompt("text", whole=False)
    return tokenizer.rendered(prompt, thinking=True) != tokenizer.rendered(prompt, thinking=False)


class ModelSource:
    """Opens the model of a judge's SPEC: a local one, `URL#MODEL` or `vllm:URL#MODEL`. A local model is loaded once and
    runs in a thread until `close`."""

    def __init__(self, build: JudgeBuild, config: MemoConfig) -> None:
        backend, tokens = build.backend, build.backend.startswith(_VLLM)
        self.tokenizer: SafeTokenizer | None = None
        self._tokens = tokens
        self._config, self._concurrency = config, build.batch_size
        self._local: BackgroundModel | None = None
        self._endpoint: OpenAIEndpoint | None = None
        self.name = backend
        if not is_local(backend):
            if config.constrain:
                raise BadJudge(f"constrain=true needs a local model, whose tokens can be restricted: {backend} is none")
            url, model = address_and_model(backend.removeprefix(_VLLM), "the SPEC of the judge")
            self._endpoint = OpenAIEndpoint(url, model, KEY, *(["completions"] if tokens else []))
            self._key = find_key(self._endpoint)
            self.name = (_VLLM if tokens else "") + self._endpoint.name
        sampling = build.sampling
        self._wrap = partial(
            TextModel, temperature=sampling.temperature, seed=sampling.seed, retries=config.retries,
            thinking=config.thinking, switch=config.switch,
        )  # fmt: skip
        name = backend if self._endpoint is None else config.tokenizer or (self._endpoint.model if tokens else None)
        if name is not None:
            from judge_r1.models import hub

            hf = hub.load_tokenizer(name)
            self.tokenizer = SafeTokenizer(hf)
            if self._endpoint is None or tokens:
                if config.thinking is not None and not _can_think(self.tokenizer):
                    raise BadJudge(f"the chat template of {name} has no switch for thinking: leave out thinking")
                ends, length = hub.eos_ids(name, hf), hub.context_length(name)
                self._wrap = partial(self._wrap, tokenizer=self.tokenizer, eos_ids=ends, context_length=length)
            if self._endpoint is None:
                self._local = self._start(name, hf.pad_token_id, ends)

    @property
    def identity(self) -> str:
        """The model, for stored memories: two checkpoints in one folder differ."""
        from judge_r1.models.hub import folder_digest

        is_folder = self._endpoint is None and not self.name.startswith("bundled:") and Path(self.name).is_dir()
        return f"{self.name}@{folder_digest(Path(self.name))}" if is_folder else self.name

    @property
    def counter(self) -> WordCounter:
        return WordCounter() if self.tokenizer is None else TokenCounter(self.tokenizer)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[TextModel]:
        """The model, for calls in this event loop."""
        if self._endpoint is None:
            assert self._local is not None
            yield self._wrap(self._local)
            return
        from judge_r1.models.openai_chat import ChatModel
        from judge_r1.models.openai_completions import CompletionsModel

        seconds = self._config.timeout
        policy = RetryPolicy(concurrency=self._concurrency, request_s=seconds, total_s=5 * seconds)
        served = (CompletionsModel if self._tokens else ChatModel)(self._endpoint, self._key, policy)
        try:
            yield self._wrap(served)
        finally:
            await served.aclose()

    def close(self) -> None:
        if self._local is not None:
            self._local.close()

    def _start(self, name: str, pad_id: int, ends: frozenset[int]) -> "BackgroundModel":
        from judge_r1.models.engine import BackgroundModel, LocalModel
        from judge_r1.models.hub import load_model

        assert self.tokenizer is not None
        decode = self.tokenizer.decode
        return BackgroundModel(
            LocalModel(load_model(name), decode, ends, pad_id=pad_id, max_rows=self._concurrency, persistent=True)
        )
