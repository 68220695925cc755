"""Parses a teacher's SPEC (`chat:URL#MODEL`, `anthropic:MODEL` or `local:MODEL`) and finds its API key, if any.

`chat:token_field=max_completion_tokens@URL#MODEL` names the field with the limit of tokens.
"""

import os
import re
from collections.abc import Mapping

from pydantic import SecretStr

from data_builders.teachers import TeacherError
from data_builders.teachers.anthropic import API, Anthropic
from data_builders.teachers.openai import Chat
from data_builders.teachers.provider import Provider
from judge_r1.core import endpoint
from judge_r1.core.endpoint import EndpointError, address_and_model, checked_address
from judge_r1.models.endpoint import TOKEN_FIELDS

FORMS = "chat:URL#MODEL (for example chat:https://host/v1#model), anthropic:MODEL or local:MODEL"

_OPTION = "token_field"


def local_model(spec: str) -> str | None:
    """MODEL of a SPEC `local:MODEL`; None for a teacher with an API."""
    kind, _, model = spec.partition(":")
    return model if kind == "local" else None


def parse_spec(spec: str, environment: Mapping[str, str] = os.environ) -> Provider:
    """The provider of a SPEC with an API. `ANTHROPIC_BASE_URL` replaces the address of Anthropic's API.

    Raises: TeacherError.
    """
    kind, _, rest = spec.partition(":")
    try:
        if kind == "chat":
            option, _, address = rest.partition("@") if rest.startswith(f"{_OPTION}=") else ("", "", rest)
            field = option.partition("=")[2] or None
            if field not in (None, *TOKEN_FIELDS):
                raise TeacherError(f"{_OPTION} is {' or '.join(TOKEN_FIELDS)}, not {field!r}")
            return Chat(*address_and_model(address, "the teacher's SPEC"), token_field=field)
        if kind == "anthropic":
            if not re.fullmatch(r"[\w.:@/-]+", rest):
                raise TeacherError("the teacher's SPEC names no model: write anthropic:MODEL")
            return Anthropic(rest, checked_address(environment.get("ANTHROPIC_BASE_URL") or API, "ANTHROPIC_BASE_URL"))
    except EndpointError as error:
        raise TeacherError(str(error)) from None
    raise TeacherError(f"{kind!r} is no teacher that can be asked: write {FORMS}")


def find_key(provider: Provider, environment: Mapping[str, str] = os.environ) -> SecretStr | None:
    """The key in the first of the provider's variables that is set. Raises: TeacherError if a key is required."""
    try:
        return endpoint.find_key(provider, environment)
    except EndpointError as error:
        raise TeacherError(str(error)) from None
