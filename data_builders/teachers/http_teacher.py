"""HTTP to a teacher: the patient client of `judge_r1.models.http_client`, in the words of a wire."""

from pydantic import SecretStr

from data_builders.teachers import Answer, Ask, TeacherError, TeacherRefused
from data_builders.teachers.provider import Wire
from judge_r1.models.endpoint import EndpointError, Refused
from judge_r1.models.http_client import USUAL, Client, Limits


class HttpTeacher:
    """A teacher behind a wire. `key` leaves this object in a header of a request and nowhere else."""

    def __init__(self, wire: Wire, key: SecretStr | None, limits: Limits = USUAL) -> None:
        self._wire, self._client = wire, Client(wire, key, limits)

    @property
    def name(self) -> str:
        return self._wire.name

    async def aclose(self) -> None:
        await self._client.aclose()

    async def ask(self, ask: Ask) -> Answer:
        """Errors: TeacherRefused for this ask alone, TeacherError for what would befall any other, too."""
        try:
            return await self._client.post(self._wire.body(ask), self._wire.read)
        except Refused as error:
            raise TeacherRefused(str(error)) from None
        except EndpointError as error:
            raise TeacherError(str(error)) from None
