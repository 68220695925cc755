"""The interface of providers: how a vendor's requests are written and its replies read, live and in batches; and the
teacher that asks one over HTTP, with the retries of `judge_r1.models.http_client`."""

from typing import Any, Protocol

from pydantic import SecretStr

from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from judge_r1.core.endpoint import DEFAULT_POLICY, EndpointError, KeyHolder, RequestRejected, RetryPolicy
from judge_r1.core.errors import JudgeError


class Provider(KeyHolder, Protocol):
    """One model behind one API format. `name` is `FORMAT:MODEL`, the teacher's name."""

    @property
    def url(self) -> str:
        """The address to POST a request to."""
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


class HttpTeacher:
    """A teacher behind an HTTP API. `key` is sent in a request header and appears nowhere else."""

    def __init__(self, provider: Provider, key: SecretStr | None, policy: RetryPolicy = DEFAULT_POLICY) -> None:
        from judge_r1.models.http_client import Client

        self._provider, self._client = provider, Client(provider, key, policy)

    @property
    def name(self) -> str:
        return self._provider.name

    async def aclose(self) -> None:
        await self._client.aclose()

    async def ask(self, request: TeacherRequest) -> TeacherReply:
        """Raises: TeacherRefused if this request is rejected, TeacherError for errors that every request would meet."""
        try:
            return await self._client.post(self._provider.body(request), self._provider.read)
        except RequestRejected as error:
            raise TeacherRefused(str(error)) from None
        except EndpointError as error:
            raise TeacherError(str(error)) from None
