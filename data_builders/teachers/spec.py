"""Parses a teacher's SPEC, `chat[:token_field=FIELD]@BACKEND`, and finds its API key, if any.

BACKEND is URL#MODEL, `anthropic:MODEL`, or a model on this machine: a folder, a hub name or `bundled:NAME`. The option
`token_field` of an endpoint names the field with the limit of tokens.
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
from judge_r1.core.spec import BadSpec, Spec
from judge_r1.core.spec import parse_spec as parse
from judge_r1.models.endpoint import TOKEN_FIELDS

FORMS = "chat@URL#MODEL (for example chat@https://host/v1#model), chat@anthropic:MODEL or chat@MODEL"

_OPTION, _ANTHROPIC = "token_field", "anthropic:"


def local_model(spec: str) -> str | None:
    """The model on this machine of a SPEC; None for a teacher with an API. Raises: TeacherError."""
    backend = _parsed(spec).backend
    return None if backend.startswith((_ANTHROPIC, "http:", "https:")) else backend


def _parsed(text: str) -> Spec:
    try:
        spec = parse(text)
    except BadSpec:  # its message shows the whole text, which may hold a password
        raise TeacherError(f"the teacher's SPEC names no model: write {FORMS}") from None
    if spec.name != "chat":
        raise TeacherError(f"{spec.name!r} is no teacher that can be asked: write {FORMS}")
    if not spec.backend:
        raise TeacherError(f"the teacher's SPEC names no model: write {FORMS}")
    return spec


def parse_spec(spec: str, environment: Mapping[str, str] = os.environ) -> Provider:
    """The provider of a SPEC with an API. `ANTHROPIC_BASE_URL` replaces the address of Anthropic's API.

    Raises: TeacherError.
    """
    found = _parsed(spec)
    options = dict(option.partition("=")[::2] for option in found.options)
    field = options.pop(_OPTION, None)
    if options or (field is not None and (local_model(spec) or found.backend.startswith(_ANTHROPIC))):
        name = min(options, default=_OPTION)
        raise TeacherError(f"the teacher's SPEC has no option {name!r} here: write {FORMS}")
    if field not in (None, *TOKEN_FIELDS):
        raise TeacherError(f"{_OPTION} is {' or '.join(TOKEN_FIELDS)}, not {field!r}")
    try:
        if found.backend.startswith(_ANTHROPIC):
            model = found.backend.removeprefix(_ANTHROPIC)
            if not re.fullmatch(r"[\w.:@/-]+", model):
                raise TeacherError("the teacher's SPEC names no model: write chat@anthropic:MODEL")
            return Anthropic(model, checked_address(environment.get("ANTHROPIC_BASE_URL") or API, "ANTHROPIC_BASE_URL"))
        return Chat(*address_and_model(found.backend, "the teacher's SPEC"), token_field=field)
    except EndpointError as error:
        raise TeacherError(str(error)) from None


def find_key(provider: Provider, environment: Mapping[str, str] = os.environ) -> SecretStr | None:
    """The key in the first of the provider's variables that is set. Raises: TeacherError if a key is required."""
    try:
        return endpoint.find_key(provider, environment)
    except EndpointError as error:
        raise TeacherError(str(error)) from None
