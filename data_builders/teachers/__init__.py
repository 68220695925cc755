"""Teachers: strong models that write flaws and rationales. An `Ask` goes out, an `Answer` comes back, and nothing else
about a vendor is known outside this package."""

from typing import Protocol

from pydantic import Field

from judge_r1.core.endpoint import EndpointError
from judge_r1.core.records import NonEmpty, Record


class TeacherError(EndpointError):
    """A teacher that cannot be asked, or gave no answer in time."""


class TeacherRefused(TeacherError):
    """An ask that its vendor will not take, however often it is put: too long, against its rules, malformed."""


class BudgetSpent(TeacherError):
    """No further call is started; what was paid for is kept."""


class BatchPending(TeacherError):
    """An ask without an answer yet: it was written into a batch file instead of being put."""


class TeacherRequest(Record):
    """One question. Everything that an answer may depend on stands here, and with the teacher's name it is the key
    under which the answer is kept: the same question is never paid for twice. `sample` tells repeated ones apart."""

    system: str
    user: NonEmpty
    max_tokens: int = Field(ge=1)
    temperature: float = Field(0.7, ge=0)
    sample: int = Field(0, ge=0)


class TeacherReply(Record):
    """What came back, with the tokens it cost; `finished` is False where it was cut at `max_tokens`."""

    text: str
    input_tokens: int = Field(ge=0)
    output_tokens: int = Field(ge=0)
    finished: bool
    model: NonEmpty


class Teacher(Protocol):
    """Whoever answers. `name` is what data records as their origin: vendor and model, never an address or a key."""

    @property
    def name(self) -> str: ...

    async def ask(self, ask: TeacherRequest) -> TeacherReply:
        """Errors: TeacherError where no answer could be had in time."""
        ...
