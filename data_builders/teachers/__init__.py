"""Teachers: strong models that write flaws and rationales. Other packages see only `Teacher`, requests and replies."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from pydantic import Field, model_validator

from judge_r1.core.endpoint import EndpointError
from judge_r1.core.record_base import NonEmpty, Record
from judge_r1.episode.answer_form import AnswerForm
from judge_r1.episode.answer_text import answer_text


class TeacherError(EndpointError):
    """A teacher cannot be reached, or gave no answer in time."""


class TeacherRefused(TeacherError):
    """The vendor rejects this request for good: too long, against its rules, malformed."""


class BudgetSpent(TeacherError):
    """The budget allows no further call. Answers that were paid for are stored."""


class BatchPending(TeacherError):
    """The request has no answer yet: it was written to a batch file."""


class TeacherRequest(Record):
    """One request. With the teacher's name it is the cache key, so it holds all that an answer may depend on. `sample`
    distinguishes repeated requests.

    `form` constrains local models; other teachers get the two texts alone. `prefix` is the beginning of `user` that
    requests sent soon after this one share: a provider may read it from its own cache, at a lower price. Both follow
    from the texts, so they are not part of the key.
    """

    system: str
    user: NonEmpty
    max_tokens: int = Field(ge=1)
    temperature: float = Field(0.7, ge=0)
    sample: int = Field(0, ge=0)
    form: AnswerForm | None = Field(None, exclude=True, repr=False)
    prefix: str = Field("", exclude=True, repr=False)

    @model_validator(mode="after")
    def _starts_with_prefix(self) -> "TeacherRequest":
        if not self.user.startswith(self.prefix):
            raise ValueError("prefix must be the beginning of user")
        return self


class TeacherReply(Record):
    """The reply as sent, and the tokens it used. `finished` is False if it was cut off. Of the input tokens the
    provider has read `cached_tokens` from its cache, and stored `stored_tokens` there."""

    text: str
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    cached_tokens: int = Field(0, ge=0)
    stored_tokens: int = Field(0, ge=0)
    finished: bool
    model: NonEmpty

    @property
    def answer(self) -> str:
        """The text without thoughts. Parsers read it, never `text`."""
        return answer_text(self.text)


class Teacher(Protocol):
    """A model that answers requests. `name` is recorded as the origin of data: vendor and model, no address or key."""

    @property
    def name(self) -> str: ...

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        """Raises: TeacherError if there is no answer in time."""
        ...


R = TypeVar("R")
REFUSED = "the teacher refused the request"


class NoAnswer(Exception):
    """No attempt gave an answer of the right form, or the teacher refuses."""


@dataclass
class Attempts:
    """Counts answers, those of which something was used, and rejections by reason. `rejected_answer` is the first
    answer of which nothing was used, and what it was asked for."""

    answers: int = 0
    used: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    rejected_answer: tuple[str, str] | None = None

    def reject(self, reason: str, asked: str, answer: str) -> None:
        """Count an answer of which nothing is used."""
        self.rejected[reason] += 1
        self.rejected_answer = self.rejected_answer or (asked, answer)


async def together(work: Iterable[Awaitable[R]]) -> list[R]:
    """The results of concurrent work, in order.

    Raises: the first error, after all work has ended, so that a batch has every request. `BatchPending` comes after the
    errors that end a build, and `NoAnswer`, which costs a record, after both.
    """
    results = await asyncio.gather(*work, return_exceptions=True)
    errors = [one for one in results if isinstance(one, BaseException)]
    if errors:
        raise min(errors, key=lambda error: (isinstance(error, NoAnswer), isinstance(error, BatchPending)))
    return [one for one in results if not isinstance(one, BaseException)]


async def ask_all(teacher: Teacher, requests: Iterable[TeacherRequest]) -> list[TeacherReply | None]:
    """The replies to requests that are made at the same time; None for one that is refused. Raises: as `together`."""

    async def ask(request: TeacherRequest) -> TeacherReply | None:
        try:
            return await teacher.ask(request)
        except TeacherRefused:
            return None

    return await together(map(ask, requests))
