"""A teacher on this machine: a causal language model in the local engine, with answers in the form of the request.

A request with a form is answered by a template: the fixed parts are ours, a choice samples only tokens of its options,
and free text ends at a mark or at its token limit. So every answer can be parsed, also that of a weak model. A request
without a form is answered freely.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import request_key
from judge_r1.episode.prompts import Message, Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.base import GenerateRequest, LanguageModel

PREFIX = "local:"
_MIN_SHARED_TOKENS = 64
"""The requests of a case begin with its text, which is read once if it is at least so long."""
_PREFIX_BYTES = 2**30
"""Memory for the states of such texts: requests of several cases alternate."""


def teacher_name(model: str) -> str:
    """`local:MODEL`. A folder is named by its last part and a digest of its files, so that two checkpoints never share
    cached answers."""
    from judge_r1.models.hub import folder_digest

    folder = Path(model)
    if not model.startswith("bundled:") and folder.is_dir():
        return f"{PREFIX}{folder.resolve().name}@{folder_digest(folder)}"
    return PREFIX + model


def check_model(model: str) -> None:
    """Check that a model can be used, without its weights. Raises: ModelUnavailable."""
    from judge_r1.models.hub import load_config, load_tokenizer

    load_tokenizer(model)
    load_config(model)


class LocalTeacher:
    """A teacher on a token model. Samples depend on the request alone. `context_length` is None if unknown; `close`
    ends the model."""

    def __init__(
        self,
        name: str,
        model: LanguageModel,
        tokenizer: SafeTokenizer,
        eos_ids: frozenset[int],
        context_length: int | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self.name, self.model, self.tokenizer, self.eos_ids = name, model, tokenizer, eos_ids
        self.context_length, self._close = context_length, close

    @classmethod
    def load(cls, model: str, max_rows: int) -> "LocalTeacher":
        """The teacher of a folder, a hub name or `bundled:NAME`, on the GPU if there is one. It answers up to
        `max_rows` requests at a time. Raises: ModelUnavailable."""
        from judge_r1.models import hub
        from judge_r1.models.engine import BackgroundModel, LocalModel

        tokenizer = hub.load_tokenizer(model)
        safe, ends = SafeTokenizer(tokenizer), hub.eos_ids(model, tokenizer)
        local = LocalModel(
            hub.load_model(model),
            safe.decode,
            ends,
            pad_id=tokenizer.pad_token_id,
            max_rows=max_rows,
            persistent=True,
            min_shared=_MIN_SHARED_TOKENS,
        )
        local.batch.prefixes.max_bytes = _PREFIX_BYTES
        engine = BackgroundModel(local)
        return cls(teacher_name(model), engine, safe, ends, hub.context_length(model), engine.close)

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        """Raises: TeacherRefused if prompt and answer exceed the model's context, TeacherError if the model fails."""
        writer = _Writer(self, request)
        try:
            text, finished = await _answer(writer, request)
        except TeacherError:
            raise
        except RuntimeError as error:  # of torch
            reason = str(error).strip().partition("\n")[0]
            raise TeacherError(f"{self.name} failed ({reason}): if memory ran out, lower --concurrency") from error
        return TeacherReply(
            text=text,
            input_tokens=len(writer.ids) - writer.kept,
            output_tokens=writer.sampled,
            finished=finished,
            model=self.name.removeprefix(PREFIX),
        )

    async def aclose(self) -> None:
        await asyncio.to_thread(self._close)


async def _answer(writer: "_Writer", request: TeacherRequest) -> tuple[str, bool]:
    if request.form is not None:
        return await request.form(writer), True
    return await writer.write(request.max_tokens, end="")


class _Writer:
    """Writes one answer. `ids` are those that the model has read so far; `sampled` counts the ids it was asked for."""

    def __init__(self, teacher: LocalTeacher, request: TeacherRequest) -> None:
        self._teacher, self._temperature = teacher, request.temperature
        self._seed = int(request_key(teacher.name, request), 16) % 2**63
        texts = [("system", request.system)] if request.system else []
        texts.append(("user", request.user))
        messages = tuple(
            Message("system" if role == "system" else "user", f"\ue000{number}\ue001")
            for number, (role, _) in enumerate(texts)
        )
        self.ids = teacher.tokenizer.prompt_ids(Prompt(messages, tuple(text for _, text in texts)))
        self.sampled = self.kept = 0

    def add(self, text: str) -> None:
        self.ids += self._teacher.tokenizer.encode_policy_text(text)

    async def choose(self, options: Sequence[str], end: str = "\n") -> str:
        encode = self._teacher.tokenizer.encode_policy_text
        left = {option: encode(option + end) for option in dict.fromkeys(options)}
        depth = 0
        while True:
            complete = next((option for option, ids in left.items() if len(ids) == depth), None)
            if len(left) == 1 or complete is not None:
                chosen = next(iter(left)) if complete is None else complete
                self.ids += left[chosen][depth:]
                return chosen
            following = frozenset(ids[depth] for ids in left.values())
            if len(following) == 1:
                [token] = following
            else:
                [token] = await self._sample(1, allowed=following)
                self.kept += 1
            self.ids.append(token)
            left = {option: ids for option, ids in left.items() if ids[depth] == token}
            depth += 1

    async def write(self, max_tokens: int, end: str = "\n") -> tuple[str, bool]:
        ids = await self._sample(max_tokens, stop=(end,) if end else ())
        control = self._teacher.tokenizer.control | self._teacher.eos_ids
        stopped = next((n for n, token in enumerate(ids) if token in control), None)
        text, mark = self._teacher.tokenizer.decode(ids[:stopped]), ""
        if end:
            text, mark, _ = text.partition(end)
        return text, bool(mark) or stopped is not None

    async def _sample(
        self, max_tokens: int, *, stop: Sequence[str] = (), allowed: frozenset[int] | None = None
    ) -> Sequence[int]:
        """Ids that continue the answer. Raises: TeacherRefused if they may not fit into the model's context."""
        length, limit = len(self.ids), self._teacher.context_length
        if limit is not None and length + max_tokens > limit:
            raise TeacherRefused(
                f"a prompt of {length} tokens and an answer of up to {max_tokens} are more than the {limit} tokens "
                f"that {self._teacher.name} reads: use a model with a longer context"
            )
        [generation] = await self._teacher.model.generate(
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
        self.sampled += len(generation.token_ids)
        return generation.token_ids
