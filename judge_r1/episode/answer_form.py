"""Answers in a given form from a local model (constrained decoding).

A form is a template: its fixed parts are ours, a choice samples only tokens of its options, and free text ends at a
mark or at its token limit. So every answer can be parsed, also that of a weak model.
"""

from collections.abc import Awaitable, Callable, Sequence

from judge_r1.core.errors import JudgeError
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.base import GenerateRequest, LanguageModel, Usage

MIN_SHARED_TOKENS = 64
"""An answer is written in several requests, and prompts about one text begin alike: what they share is read once if it
is at least so long."""


class AnswerTooLong(JudgeError):
    """The prompt and the answer may exceed the model's context."""


class SamplingFailed(JudgeError):
    """The model failed, which says nothing about the answer. `failure` is its name."""

    def __init__(self, failure: str) -> None:
        super().__init__(f"the model failed while it wrote an answer: {failure}")
        self.failure = failure


class ModelWriter:
    """Writes one answer to a prompt: fixed text by us, choices and free text by the model.

    `ids` are those that the model has read so far; of them, `kept` were sampled by it. `sampled` counts the ids it was
    asked for, and `usage` is what they cost. Samples depend on `seed` alone.

    Raises (`choose`, `write`): AnswerTooLong, SamplingFailed.
    """

    def __init__(
        self,
        model: LanguageModel,
        tokenizer: SafeTokenizer,
        eos_ids: frozenset[int],
        prompt_ids: Sequence[int],
        *,
        temperature: float,
        seed: int,
        context_length: int | None = None,
    ) -> None:
        self._model, self._tokenizer, self._eos_ids = model, tokenizer, eos_ids
        self._temperature, self._seed, self._context_length = temperature, seed, context_length
        self.ids = list(prompt_ids)
        self.sampled = self.kept = 0
        self.usage = Usage()

    def add(self, text: str) -> None:
        """Continue the answer with text that the model reads."""
        self.ids += self._tokenizer.encode_policy_text(text)

    async def choose(self, options: Sequence[str], end: str = "\n") -> str:
        """Let the model choose one of the options. The answer continues with it and with `end`, which no option may
        contain."""
        encode = self._tokenizer.encode_policy_text
        left = {option: encode(option + end) for option in dict.fromkeys(options)}
        depth = 0
        while True:
            complete = next((option for option, ids in left.items() if len(ids) == depth), None)
            if len(left) == 1 or complete is not None:
                chosen = next(iter(left)) if complete is None else complete
                self.ids += left[chosen][depth:]
                return chosen
            following = frozenset(ids[depth] for ids in left.values())
            # The options agree on this token, so the model need not be asked.
            if len(following) == 1:
                [token] = following
            else:
                [token] = await self._sample(1, allowed=following)
                self.kept += 1
            self.ids.append(token)
            left = {option: ids for option, ids in left.items() if ids[depth] == token}
            depth += 1

    async def write(self, max_tokens: int, end: str = "\n") -> tuple[str, bool]:
        """Free text before `end` or the end of the model's turn, and whether it was complete within `max_tokens`. The
        answer does not continue with it."""
        ids = await self._sample(max_tokens, stop=(end,) if end else ())
        control = self._tokenizer.control | self._eos_ids
        stopped = next((n for n, token in enumerate(ids) if token in control), None)
        text, mark = self._tokenizer.decode(ids[:stopped]), ""
        if end:
            text, mark, _ = text.partition(end)
        return text, bool(mark) or stopped is not None

    async def _sample(
        self, max_tokens: int, *, stop: Sequence[str] = (), allowed: frozenset[int] | None = None
    ) -> Sequence[int]:
        """Ids that continue the answer."""
        length, limit = len(self.ids), self._context_length
        if limit is not None and length + max_tokens > limit:
            raise AnswerTooLong(
                f"a prompt of {length} tokens and an answer of up to {max_tokens} are more than the {limit} tokens"
            )
        [generation] = await self._model.generate(
            [
                GenerateRequest(
                    prompt_ids=tuple(self.ids),
                    max_tokens=max_tokens,
                    temperature=self._temperature,
                    seed=self._seed,
                    seed_offset=self.sampled,
                    stop=stop,
                    allowed_ids=allowed,
                )
            ]
        )
        self.usage.add(generation.usage)
        if generation.failure is not None:
            raise SamplingFailed(generation.failure)
        self.sampled += len(generation.token_ids)
        return generation.token_ids


AnswerForm = Callable[[ModelWriter], Awaitable[str]]
"""Writes an answer in the form that a prompt asks for, and returns its text."""
