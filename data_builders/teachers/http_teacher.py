"""HTTP to a teacher: the patient client of `judge_r1.models.http_client`, in the words of a wire."""

from pydantic import SecretStr

from data_builders.teachers import TeacherError, TeacherRefused, TeacherReply, TeacherRequest
from data_builders.teachers.provider import Provider
from judge_r1.core.endpoint import EndpointError, RequestRejected
from judge_r1.models.http_client import DEFAULT_POLICY, Client, RetryPolicy


class HttpTeacher:
    """A teacher behind a wire. `key` leaves this object in a header of a request and nowhere else."""

    def __init__(self, wire: Provider, key: SecretStr | None, limits: RetryPolicy = DEFAULT_POLICY) -> None:
        self._wire, self._client = wire, Client(wire, key, limits)

    @property
    def name(self) -> str:
        return self._wire.name

    async def aclose(self) -> None:
        await self._client.aclose()

    async def ask(self, ask: TeacherRequest) -> TeacherReply:
        """Errors: TeacherRefused for this ask alone, TeacherError for what would befall any other, too."""
        try:
            return await self._client.post(self._wire.body(ask), self._wire.read)
        except RequestRejected as error:
            raise TeacherRefused(str(error)) from None
        except EndpointError as error:
            raise TeacherError(str(error)) from None
