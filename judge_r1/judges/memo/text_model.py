"""Prompts in, text out, for a local model, a chat endpoint or a server of token ids alike."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import CONTEXT_OVERFLOW
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.judges.base import SLOW_ENDPOINT, BadJudge, JudgeBuild
from judge_r1.judges.memo.config import MemoConfig
from judge_r1.judges.memo.prompts import summary_prompt
from judge_r1.models.anthropic import PREFIX as ANTHROPIC
from judge_r1.models.base import GenerateRequest, Generation, LanguageModel, Usage
from judge_r1.models.open_model import OpenedModel, is_local, open_model
from judge_r1.models.shared_time import SharedTime, TimeSharingModel
from retrieval.passages import prose_sentences
from retrieval.words import count_words, word_pattern

FIRST_CONTEXT = "(This is the first section; nothing comes before it.)"
"""The context of the first of several sections in stride mode."""


@dataclass(frozen=True)
class Section:
    """Characters `[start, end)` of a document. `context` is the end of the section before it in stride mode; None in
    hard mode and for the only section of a document."""

    number: int
    start: int
    end: int
    text: str
    context: str | None = None


class WordCounter:
    """Counts and cuts by words (`retrieval.words`), where the model's tokenizer is unknown."""

    unit = "words"

    def count(self, text: str) -> int:
        return count_words(text)

    def tail(self, text: str, tokens: int) -> str:
        """The last `tokens` tokens of a text."""
        starts = [match.start() for match in word_pattern().finditer(text)][-tokens:] if tokens else []
        return " ".join(text[starts[0] :].split()) if starts else ""


def scan(
    text: str,
    counter: WordCounter,
    limit: int | None,
    overlap: float = 0.0,
) -> list[Section]:
    """Sections of at most `limit` tokens; a longer sentence is a section of its own. None is one section.

    Sentences are packed in order, and a section spans from its first to its last sentence, so sections are disjoint and
    hold every character that is not white space. `overlap` in [0, 1) is the part of `limit` that a section sees of the
    end of the one before it, in addition to its own tokens: 0 is hard mode, more is stride mode.

    The greedy packing gives at least ⌈tokens / limit⌉ sections.

    Raises: ValueError for a limit below 1, or an overlap outside of [0, 1).
    """
    if not 0 <= overlap < 1 or (limit is not None and limit < 1):
        raise ValueError(f"limit {limit} must be at least 1, and overlap {overlap} at least 0 and below 1")
    packed: list[tuple[int, int]] = []
    used = 0
    for start, end in prose_sentences(text):
        tokens = counter.count(text[start:end])
        if packed and (limit is None or used + tokens <= limit):
            packed[-1] = (packed[-1][0], end)
            used += tokens
        else:
            packed.append((start, end))
            used = tokens
    sections: list[Section] = []
    for number, (start, end) in enumerate(packed, 1):
        context = None
        if overlap and limit is not None and len(packed) > 1:
            kept = int(limit * overlap)
            context = f"...{counter.tail(sections[-1].text, kept)}" if sections else FIRST_CONTEXT
        sections.append(Section(number, start, end, text[start:end], context))
    return sections


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
            cut = [position for position, one in enumerate(done) if not one.failure and one.finish_reason == "length"]
            if not cut:
                break
            again = await self._attempt([prompts[position] for position in cut], max_tokens * 2**attempt)
            for position, found in zip(cut, again, strict=True):
                spent = Usage()
                spent.add(done[position].usage)
                spent.add(found.usage)
                if found.finish_reason != CONTEXT_OVERFLOW:
                    done[position] = found
                done[position].usage = spent
        return done

    async def _attempt(self, prompts: Sequence[Prompt], max_tokens: int) -> list[Generation]:
        requests = await asyncio.to_thread(lambda: [self._request(prompt, max_tokens) for prompt in prompts])
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
        stopped = next((position for position, token in enumerate(ids) if token in ends), None)
        finish = "stop" if stopped is not None else generation.finish_reason
        return replace(generation, text=self.tokenizer.decode(ids[:stopped]), finish_reason=finish)


class TokenCounter(WordCounter):
    """Counts and cuts by the tokens of a tokenizer, without special tokens."""

    unit = "tokens"

    def __init__(self, tokenizer: SafeTokenizer) -> None:
        self._tokenizer = tokenizer

    def count(self, text: str) -> int:
        return len(self._tokenizer.encode_untrusted(text))

    def tail(self, text: str, tokens: int) -> str:
        return self._tokenizer.decode(self._tokenizer.encode_untrusted(text)[-tokens:]) if tokens else ""


def open_text_model(build: JudgeBuild, config: MemoConfig, kind: str) -> tuple[OpenedModel, TextModel, WordCounter]:
    """The model of the judge `kind`, as it is opened, as it is asked, and the counter of its texts.

    Raises: BadJudge for an option that the model does not have, and as `open_model`.
    """
    local = is_local(build.backend)
    if local and (given := sorted({"tokenizer", "timeout"} & config.model_fields_set)):
        raise BadJudge(f"{given[0]} is for endpoints, and {build.backend} is a local model: leave it out")
    if config.constrain and not local:
        raise BadJudge(f"constrain=true needs a local model, whose tokens can be restricted: {build.backend} is none")
    model = open_model(
        build.backend, kind, concurrency=build.batch_size, timeout_s=config.timeout, tokenizer=config.tokenizer,
        token_field=config.token_field, advice=SLOW_ENDPOINT,
    )  # fmt: skip
    tokenizer = SafeTokenizer(model.tokenizer) if model.tokenizer else None
    switched = _can_think(tokenizer) if model.takes_ids and tokenizer else not build.backend.startswith(ANTHROPIC)
    if config.thinking is not None and not switched:
        raise BadJudge(f"the chat template of {model.name} has no switch for thinking: leave out thinking")
    asked = TextModel(
        TimeSharingModel(model.model, SharedTime()), tokenizer if model.takes_ids else None, model.eos_ids,
        model.context_length, temperature=build.sampling.temperature, seed=build.sampling.seed, retries=config.retries,
        thinking=config.thinking, switch=config.switch,
    )  # fmt: skip
    return model, asked, TokenCounter(tokenizer) if tokenizer else WordCounter()


def _can_think(tokenizer: SafeTokenizer) -> bool:
    """Whether the chat template has a switch for thinking."""
    prompt = summary_prompt("text", whole=False)
    return tokenizer.rendered(prompt, thinking=True) != tokenizer.rendered(prompt, thinking=False)
