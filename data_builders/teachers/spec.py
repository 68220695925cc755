"""A teacher's SPEC and key: `chat:URL#MODEL` or `anthropic:MODEL`; the key comes from the environment alone."""

import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import SecretStr

from data_builders.teachers import TeacherError
from data_builders.teachers.anthropic import API, Anthropic
from data_builders.teachers.chat import Chat
from data_builders.teachers.wire import Wire

_FORMS = "chat:URL#MODEL (for example chat:https://host/v1#model) or anthropic:MODEL"


def parse_spec(spec: str, environment: Mapping[str, str] = os.environ) -> Wire:
    """The wire of a SPEC; `ANTHROPIC_BASE_URL` moves Anthropic's API elsewhere. Errors: TeacherError."""
    kind, _, rest = spec.partition(":")
    if kind == "chat":
        url, _, model = rest.partition("#")
        address = _address(url, "the teacher's SPEC")
        if not model:
            raise TeacherError(f"the teacher's SPEC names no model: write chat:{address}#MODEL")
        return Chat(address, model)
    if kind == "anthropic":
        if not re.fullmatch(r"[\w.:@/-]+", rest):
            raise TeacherError("the teacher's SPEC names no model: write anthropic:MODEL")
        return Anthropic(rest, _address(environment.get("ANTHROPIC_BASE_URL") or API, "ANTHROPIC_BASE_URL"))
    raise TeacherError(f"{kind!r} is no teacher that can be asked: write {_FORMS}")


def find_key(wire: Wire, environment: Mapping[str, str] = os.environ) -> SecretStr | None:
    """The key in the first of the wire's variables that is set. Errors: TeacherError where one is needed."""
    for name in wire.key_variables:
        if key := environment.get(name, "").strip():
            if not re.fullmatch(r"[!-~]+", key):
                raise TeacherError(f"the environment variable {name} holds something that cannot be a key")
            return SecretStr(key)
    if wire.needs_key:
        raise TeacherError(f"{wire.name} needs a key: put it into the environment variable {wire.key_variables[-1]}")
    return None


def _address(url: str, where: str) -> str:
    """Errors: TeacherError, which repeats nothing of the URL: it may hold a secret in any place."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise TeacherError(f"{where}: the URL cannot be read") from None
    if parts.username or parts.password or parts.query:
        raise TeacherError("a teacher's URL holds no user, password or query: keys come from environment variables")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TeacherError(f"{where} has no URL of the form https://host/v1")
    return url.rstrip("/")
