"""Teachers: strong models that write flaws and rationales. Other packages see only `Teacher`, requests and replies."""

from typing import Protocol

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
