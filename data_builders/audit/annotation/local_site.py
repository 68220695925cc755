"""Requests and responses of a local site, without sockets.

Only requests whose Host is the local machine, and that come from no other page, are answered. This protects against
DNS rebinding. Templates escape all text, and the content security policy allows only the page's own style and script.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from data_builders.audit.annotation.form import Fields
from judge_r1.core.errors import JudgeError
from judge_r1.labels.audit_answers import MAX_NAME_LENGTH

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'"
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
MAX_FIELDS = 20


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    host: str
    origin: str | None = None
    body: bytes = b""


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes = b""
    type: str = "text/html"
    headers: Mapping[str, str] = field(default_factory=dict)


class RequestError(JudgeError):
    """A request that gets an error page with this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def checked_url(request: Request) -> SplitResult:
    """The parts of a request's target. Raises: RequestError for another host, or another page's request."""
    try:
        host, url = urlsplit(f"//{request.host}").hostname, urlsplit(request.target)
    except ValueError:
        raise RequestError(400, "The request cannot be read.") from None
    if host not in LOCAL_HOSTS:
        raise RequestError(403, "Open this page on 127.0.0.1 or localhost: other hosts are not served.")
    if request.origin not in (None, f"http://{request.host}"):
        raise RequestError(403, "This request came from another page.")
    return url


def read_fields(data: bytes) -> Fields:
    try:
        text = data.decode("ascii")
        return parse_qs(
            text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError:
        raise RequestError(400, "The request cannot be read.") from None


def one_field(fields: Fields, name: str, default: str | None = None) -> str:
    """Return the only value of a field, or `default` if it is missing. Raises: RequestError."""
    found = fields.get(name, [] if default is None else [default])
    if len(found) != 1:
        raise RequestError(400, f"The request needs exactly one field {name}.")
    return found[0]


def annotator_name(fields: Fields) -> str:
    """Return the name of the annotator in NFC, with single blanks. Raises: RequestError."""
    name = " ".join(one_field(fields, "annotator", "").split())
    if not 1 <= len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise RequestError(400, f"A name must have 1 to {MAX_NAME_LENGTH} characters.")
    return unicodedata.normalize("NFC", name)


@lru_cache(maxsize=1)
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(__package__, "static")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render(template: str, *, status: int = 200, **fields: Any) -> Response:
    """Return a page made from a template of the folder `static`."""
    return Response(status, _templates().get_template(template).render(**fields).encode())
