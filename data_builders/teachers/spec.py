"""Parses a teacher's SPEC, `chat[:token_field=FIELD]@BACKEND`.

BACKEND is that of a judge that takes messages (`judge_r1.models.open_model`): URL#MODEL, `anthropic:MODEL`, or a model
on this machine. The option `token_field` of an endpoint names the field with the limit of tokens.
"""

from dataclasses import dataclass

from pydantic import SecretStr

from data_builders.teachers import TeacherError
from data_builders.teachers.endpoint import EndpointTeacher
from data_builders.teachers.local import teacher_name
from judge_r1.core.endpoint import DEFAULT_POLICY, RetryPolicy
from judge_r1.core.spec import BadSpec
from judge_r1.core.spec import parse_spec as parse
from judge_r1.models.anthropic import PREFIX as ANTHROPIC
from judge_r1.models.hub import check_name
from judge_r1.models.open_model import TOKEN_FIELDS, Endpoint, client_of, endpoint_of, is_chat, is_local

FORMS = "chat@URL#MODEL (for example chat@https://host/v1#model), chat@anthropic:MODEL or chat@MODEL"
KEY = "JUDGE_R1_TEACHER_KEY"
"""The environment variable with the key of a teacher's endpoint."""


@dataclass(frozen=True)
class TeacherSpec:
    """A parsed SPEC. `endpoint` is None for the model of this machine that `backend` names."""

    backend: str
    endpoint: Endpoint | None

    @property
    def name(self) -> str:
        """The teacher's name: the format of its API and the model, without address."""
        if self.endpoint is None:
            return teacher_name(self.backend)
        return self.endpoint.name if self.backend.startswith(ANTHROPIC) else f"chat:{self.endpoint.model}"

    def at_endpoint(self, key: SecretStr | None, policy: RetryPolicy = DEFAULT_POLICY) -> EndpointTeacher:
        """The teacher of the endpoint. Batches need no key. Raises: TeacherError for a model of this machine."""
        if self.endpoint is None:
            raise TeacherError(f"a batch needs a teacher with a batch service, and {self.backend} runs on this machine")
        return EndpointTeacher(self.name, client_of(self.endpoint, key, policy, needs_usage=True))


def parse_spec(text: str) -> TeacherSpec:
    """Raises: TeacherError, EndpointError, ModelUnavailable."""
    try:
        spec = parse(text)
    except BadSpec:  # its message shows the whole text, which may hold a password
        raise TeacherError(f"the teacher's SPEC names no model: write {FORMS}") from None
    if spec.name != "chat":
        raise TeacherError(f"{spec.name!r} is no teacher that can be asked: write {FORMS}")
    backend = spec.backend
    if not backend or not (is_local(backend) or is_chat(backend)):
        raise TeacherError(f"the teacher's SPEC names no model: write {FORMS}")
    options = dict(option.partition("=")[::2] for option in spec.options)
    chat = not is_local(backend) and not backend.startswith(ANTHROPIC)
    if unknown := sorted(options.keys() - ({"token_field"} if chat else set())):
        raise TeacherError(f"the teacher's SPEC has no option {unknown[0]!r} here: write {FORMS}")
    if (field := options.get("token_field")) not in (None, *TOKEN_FIELDS):
        raise TeacherError(f"token_field is {' or '.join(TOKEN_FIELDS)}, not {field!r}")
    if is_local(backend):
        check_name(backend)
        return TeacherSpec(backend, None)
    return TeacherSpec(backend, endpoint_of(backend, "chat", key=KEY, token_field=field))
