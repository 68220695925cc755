"""A teacher on this machine: a causal language model in the local engine, with answers in the form of the request.

A request with a form is answered by its template (`judge_r1.episode.answer_form`), and any other one freely.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from data_builders.teachers.answer_cache import request_key
from judge_r1.episode.answer_form import MIN_SHARED_TOKENS, AnswerTooLong, ModelWriter
from judge_r1.episode.prompts import Message, Prompt
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.models.base import LanguageModel
from judge_r1.models.hub import folder_digest
from judge_r1.models.open_model import open_model

PREFIX = "local:"
_PREFIX_BYTES = 2**30
"""Memory for the states of what prompts share: requests of several cases alternate."""


def teacher_name(model: str) -> str:
    """`local:MODEL`. A folder is named by its last part and a digest of its files, so that two checkpoints never share
    cached answers."""
    folder = Path(model)
    if not model.startswith("bundled:") and folder.is_dir():
        return f"{PREFIX}{folder.resolve().name}@{folder_digest(folder)}"
    return PREFIX + model


def check_model(model: str) -> None:
    """Check that a model can be used, without its weights. Raises: ModelUnavailable."""
    open_model(model, concurrency=1)


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
        opened = open_model(model, concurrency=max_rows, min_shared=MIN_SHARED_TOKENS)
        opened.model.batch.prefixes.max_bytes = _PREFIX_BYTES
        tokenizer = SafeTokenizer(opened.tokenizer)
        return cls(teacher_name(model), opened, tokenizer, opened.eos_ids, opened.context_length, opened.close)

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        """Raises: TeacherRefused if prompt and answer exceed the model's context, TeacherError if the model fails."""
        writer = self._writer(request)
        try:
            if request.form is None:
                text, finished = await writer.write(request.max_tokens, end="")
            else:
                text, finished = await request.form(writer), True
        except AnswerTooLong as error:
            raise TeacherRefused(f"{error} that {self.name} reads: use a model with a longer context") from None
        except RuntimeError as error:  # of torch
            reason = str(error).strip().partition("\n")[0]
            raise TeacherError(f"{self.name} failed ({reason}): if memory ran out, lower concurrency") from error
        return TeacherReply(
            text=text,
            input_tokens=len(writer.ids) - writer.kept,
            output_tokens=writer.sampled,
            finished=finished,
            model=self.name.removeprefix(PREFIX),
        )

    def _writer(self, request: TeacherRequest) -> ModelWriter:
        texts = [("system", request.system)] if request.system else []
        texts.append(("user", request.user))
        # The marks for which `Prompt` puts in the texts, so that no text counts as an instruction.
        messages = tuple(
            Message("system" if role == "system" else "user", f"\ue000{number}\ue001")
            for number, (role, _) in enumerate(texts)
        )
        return ModelWriter(
            self.model,
            self.tokenizer,
            self.eos_ids,
            self.tokenizer.prompt_ids(Prompt(messages, tuple(text for _, text in texts))),
            temperature=request.temperature,
            seed=int(request_key(self.name, request), 16) % 2**63,
            context_length=self.context_length,
        )

    async def aclose(self) -> None:
        await asyncio.to_thread(self._close)
