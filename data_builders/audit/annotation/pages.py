"""The annotation pages as a function from requests to responses, without sockets.

All paths start with a random token, and only requests whose Host is the local machine are answered. This protects
against pages of other users and against DNS rebinding. Templates escape all text, and the content security policy
allows only the page's own style and script.
"""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import lru_cache
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from pydantic import ValidationError

from data_builders.audit.annotation.annotations import (
    MAX_NAME_LENGTH,
    MAX_NOTE_LENGTH,
    Answer,
    AnswerFileError,
    AnswerLog,
    Round,
)
from data_builders.audit.annotation.assignment import (
    AnnotatorRound,
    annotators,
    first_round,
    first_side,
    page_key,
    second_round,
)
from data_builders.audit.annotation.text_diff import differences
from judge_r1.core.errors import JudgeError, explain
from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import NUMBERS, PRINCIPLES
from judge_r1.core.records import ReasoningPair

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


class Site:
    """Pages for pairs and a log of answers, under `/TOKEN/`."""

    def __init__(self, data: PairSet, log: AnswerLog, token: str) -> None:
        self.data, self.log, self.token = data, log, token
        self._pairs = data.by_id()

    def respond(self, request: Request) -> Response:
        try:
            return self._respond(request)
        except (RequestError, AnswerFileError) as error:
            status = error.status if isinstance(error, RequestError) else 500
            return _page("message.html", status=status, title="The request failed", text=str(error))

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
        routes = {("GET", ""): self._start, ("GET", "pair"): self._show, ("POST", "answer"): self._answer}
        if (route := routes.get((request.method, page))) is None:
            raise RequestError(404, "Page not found: open the address that the command printed.")
        return route(_fields(url.query.encode() if request.method == "GET" else request.body))

    def _start(self, _: Mapping[str, list[str]]) -> Response:
        answers = self.log.answers
        known = [
            (first_round(self.data, answers, name), second_round(self.data, answers, name))
            for name in annotators(answers)
        ]
        return _page("start.html", pairs=len(self.data.pairs), known=known, longest=MAX_NAME_LENGTH)

    def _show(self, fields: Mapping[str, list[str]]) -> Response:
        answers = self.log.answers
        name = _name(fields)
        first, second = first_round(self.data, answers, name), second_round(self.data, answers, name)
        wanted = _one(fields, "round", "2" if second and second.answered else "1")
        current = second if wanted == "2" and second else first
        index = _requested_index(fields, current)
        if index is None:
            repeated = len(second.order) if current.round == 1 and second else 0
            started = bool(second and second.answered)
            return _page("done.html", round=current, repeated=repeated, started=started)
        return _page("pair.html", round=current, index=index, **self._pair_fields(current, index))

    def _pair_fields(self, current: AnnotatorRound, index: int) -> dict[str, Any]:
        """Return the fields of the pair's page. None of them reveals the label."""
        pair = self._pairs[current.order[index]]
        case, answer = self.data.case_of(pair), current.answers.get(pair.pair_id)
        side = first_side(pair, current.annotator, current.round)
        chosen = None if answer is None else "A" if answer.choice == side else "B"
        left, right = differences(*_in_shown_order(pair, side))
        return {
            "domain": case.domain,
            "context": case.context,
            "decision": case.decision,
            "reasonings": (("A", left), ("B", right)),
            "key": page_key(pair.pair_id, current.annotator, current.round),
            "chosen": chosen,
            "marked": answer.principles if answer else (),
            "note": answer.note if answer else "",
            "longest": MAX_NOTE_LENGTH,
            "principles": PRINCIPLES,
        }

    def _answer(self, fields: Mapping[str, list[str]]) -> Response:
        answers = self.log.answers
        name, round_, key = _name(fields), _round(fields), _one(fields, "key")
        second = second_round(self.data, answers, name)
        current = first_round(self.data, answers, name) if round_ == 1 else second
        if current is None:
            raise RequestError(409, "Complete the first round before the second.")
        if round_ == 1 and second and second.answered:
            raise RequestError(409, "The second round has begun: choices of the first round can no longer change.")
        pair_id = next((i for i in current.order if page_key(i, name, round_) == key), None)
        if pair_id is None:
            raise RequestError(409, "This pair is no longer in this round: continue from the start page.")
        self.log.append(self._record(fields, self._pairs[pair_id], name, round_))
        query = urlencode({"annotator": name, "round": round_})
        return Response(303, headers={"Location": f"/{quote(self.token)}/pair?{query}"})

    def _record(self, fields: Mapping[str, list[str]], pair: ReasoningPair, name: str, round_: Round) -> Answer:
        side, chosen = first_side(pair, name, round_), _one(fields, "choice", "")
        if chosen not in ("A", "B"):
            raise RequestError(400, "Choose A or B first.")
        other = "B" if side == "A" else "A"
        try:
            return Answer.model_validate(
                {
                    "annotator": name,
                    "round": round_,
                    "pair_id": pair.pair_id,
                    "choice": side if chosen == "A" else other,
                    "shown_first": side,
                    "principles": [n for n in NUMBERS if str(n) in fields.get("principle", [])],
                    "note": _one(fields, "note", "").replace("\r\n", "\n"),
                    "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                    "schema": 1,
                }
            )
        except ValidationError as error:
            raise RequestError(400, f"The answer was not saved: {explain(error)}.") from None


def _in_shown_order(pair: ReasoningPair, first: str) -> tuple[str, str]:
    sides = (pair.reasoning_a, pair.reasoning_b)
    return sides if first == "A" else (sides[1], sides[0])


def _requested_index(fields: Mapping[str, list[str]], current: AnnotatorRound) -> int | None:
    """Return the index for the field `at`, which counts from 1, or the index of the first pair without an answer."""
    at = _one(fields, "at", "")
    if not at:
        return current.next_index()
    if not at.isascii() or not at.isdigit() or not 1 <= int(at) <= len(current.order):
        raise RequestError(404, f"This round has pairs 1 to {len(current.order)}.")
    return int(at) - 1


def _fields(data: bytes) -> dict[str, list[str]]:
    try:
        text = data.decode("ascii")
        return parse_qs(
            text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError:
        raise RequestError(400, "The request cannot be read.") from None


def _one(fields: Mapping[str, Sequence[str]], name: str, default: str | None = None) -> str:
    found = fields.get(name, [] if default is None else [default])
    if len(found) != 1:
        raise RequestError(400, f"The request needs exactly one field {name}.")
    return found[0]


def _name(fields: Mapping[str, Sequence[str]]) -> str:
    name = " ".join(_one(fields, "annotator", "").split())
    if not 1 <= len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise RequestError(400, f"A name must have 1 to {MAX_NAME_LENGTH} characters.")
    return name


def _round(fields: Mapping[str, Sequence[str]]) -> Round:
    text = _one(fields, "round")
    if text not in ("1", "2"):
        raise RequestError(400, "The round must be 1 or 2.")
    return 1 if text == "1" else 2


@lru_cache(maxsize=1)
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(__package__, "static")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _page(template: str, *, status: int = 200, **fields: Any) -> Response:
    return Response(status, _templates().get_template(template).render(**fields).encode())
