"""Pages on the local machine as a function from requests to responses, without sockets.

All paths start with a random token, and only requests whose Host is the local machine are answered. This protects
against pages of other users and against DNS rebinding. Templates escape all text, and the content security policy
allows only the page's own style and script.
"""

import hmac
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from data_builders.audit.annotation.form import Fields
from data_builders.audit.annotation.record_log import MAX_NAME_LENGTH, AnswerFileError, RecordLog
from judge_r1.core.errors import JudgeError

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
STATIC = {"audit.css": "text/css", "audit.js": "text/javascript"}
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


class LocalSite(ABC):
    """Pages under `/TOKEN/` and a log of answers."""

    def __init__(self, log: RecordLog[Any], token: str) -> None:
        self.log, self.token = log, token

    @abstractmethod
    def routes(self) -> Mapping[tuple[str, str], Callable[[Fields], Response]]:
        """The pages by method and name; "" is the start page."""

    def respond(self, request: Request) -> Response:
        try:
            return self._respond(request)
        except (RequestError, AnswerFileError) as error:
            status = error.status if isinstance(error, RequestError) else 500
            return render("message.html", status=status, title="The request failed", text=str(error))

    def _respond(self, request: Request) -> Response:
        try:
            host, url = urlsplit(f"//{request.host}").hostname, urlsplit(request.target)
        except ValueError:
            raise RequestError(400, "The request cannot be read.") from None
        if host not in LOCAL_HOSTS:
            raise RequestError(403, "Open this page on 127.0.0.1 or localhost: other hosts are not served.")
        if request.origin not in (None, f"http://{request.host}"):
            raise RequestError(403, "This request came from another page.")
        token, _, page = url.path.lstrip("/").partition("/")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            raise RequestError(404, "Page not found: open the address that the command printed.")
        if page in STATIC and request.method == "GET":
            return Response(200, (files(__package__) / "static" / page).read_bytes(), STATIC[page])
        if (route := self.routes().get((request.method, page))) is None:
            raise RequestError(404, "Page not found: open the address that the command printed.")
        return route(_fields(url.query.encode() if request.method == "GET" else request.body))

    def redirect(self, page: str, **query: object) -> Response:
        """A response that opens a page of this site."""
        return Response(303, headers={"Location": f"/{quote(self.token)}/{page}?{urlencode(query)}"})


def _fields(data: bytes) -> Fields:
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
