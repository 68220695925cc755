"""What differs between vendors, as pure functions: how an ask is written, how an answer reads, live and in batches."""

from typing import Any, Protocol

from data_builders.teachers import TeacherReply, TeacherRequest
from judge_r1.core.errors import JudgeError


class Provider(Protocol):
    """One model behind one wire format."""

    @property
    def name(self) -> str:
        """`FORMAT:MODEL`, which is the teacher's name."""
        ...

    @property
    def url(self) -> str:
        """Where to POST an ask."""
        ...

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The environment variables that may hold the key, best first."""
        ...

    @property
    def needs_key(self) -> bool:
        """Whether the vendor is known to answer nobody without one."""
        ...

    def headers(self, key: str | None) -> dict[str, str]: ...

    def body(self, ask: TeacherRequest) -> dict[str, Any]: ...

    def read(self, data: Any) -> TeacherReply:
        """Errors: LookupError, TypeError or ValueError where a field is missing or of another kind."""
        ...

    def batch_row(self, key: str, ask: TeacherRequest) -> dict[str, Any]:
        """A line of the vendor's batch file; `key` comes back as its `custom_id`."""
        ...

    def batch_result(self, row: Any) -> TeacherReply:
        """The answer in a line of the vendor's result file. Errors: FailedRow, and those of `read`."""
        ...


class FailedRow(JudgeError):
    """A line of a result file that holds no answer; the message is the vendor's reason."""
