"""The interface of providers: how a vendor's requests are written and its replies read, live and in batches."""

from typing import Any, Protocol

from data_builders.teachers import TeacherReply, TeacherRequest
from judge_r1.core.errors import JudgeError


class Provider(Protocol):
    """One model behind one API format."""

    @property
    def name(self) -> str:
        """`FORMAT:MODEL`, which is the teacher's name."""
        ...

    @property
    def url(self) -> str:
        """The address to POST a request to."""
        ...

    @property
    def key_variables(self) -> tuple[str, ...]:
        """The environment variables that may hold the key, in order of precedence."""
        ...

    @property
    def needs_key(self) -> bool:
        """Whether the vendor requires a key."""
        ...

    def headers(self, key: str | None) -> dict[str, str]: ...

    def body(self, request: TeacherRequest) -> dict[str, Any]: ...

    def read(self, data: Any) -> TeacherReply:
        """The reply in a response. Raises: LookupError, TypeError or ValueError for a missing or invalid field."""
        ...

    def batch_row(self, key: str, request: TeacherRequest) -> dict[str, Any]:
        """A line of the vendor's batch file. `key` is returned as the `custom_id` of the result."""
        ...

    def batch_result(self, row: Any) -> TeacherReply:
        """The reply in a line of the vendor's result file. Raises: FailedRow, and the errors of `read`."""
        ...


class FailedRow(JudgeError):
    """A line of a result file that holds no answer. The message is the vendor's reason."""
