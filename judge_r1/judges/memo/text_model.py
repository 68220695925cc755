"""Prompts in, text out, for a local model, a chat endpoint or a server of token ids alike."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import CONTEXT_OVERFLOW
from judge_r1.episode.prompts import Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.base import GenerateRequest, Generation, LanguageModel, Usage


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
            cut = [position for position, found in enumerate(done) if _cut_off(found)]
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


def _cut_off(generation: Generation) -> bool:
    return generation.failure is None and generation.finish_reason == "length"
