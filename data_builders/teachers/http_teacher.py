"""Asks a teacher over HTTP, with the retries of `judge_r1.models.http_client`."""

from pydantic import SecretStr

from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from data_builders.teachers.provider import Provider
from judge_r1.core.endpoint import DEFAULT_POLICY, EndpointError, RequestRejected, RetryPolicy


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
