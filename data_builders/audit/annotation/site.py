"""The pages of an annotation site: the start page, one page for each pair of a round, and its end."""

import hmac
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, Generic
from urllib.parse import quote, urlencode

from pydantic import ValidationError

from data_builders.audit.annotation.form import A, Fields, PairPage, Question, Round, Task
from data_builders.audit.annotation.local_site import (
    HEADERS,
    Request,
    RequestError,
    Response,
    annotator_name,
    checked_url,
    one_field,
    read_fields,
    render,
)
from data_builders.audit.annotation.record_log import RecordLog
from judge_r1.core.errors import JudgeError, explain
from judge_r1.core.record_base import content_hash
from judge_r1.labels.audit_answers import MAX_NAME_LENGTH, MAX_NOTE_LENGTH, AnswerFileError, check_known

STATIC = {"audit.css": "text/css", "audit.js": "text/javascript"}


class AnnotationSite(Generic[A]):
    """Pages on which people answer the questions of a task about each of its pairs.

    All paths start with `/TOKEN/`. The token is random, which protects against other users of the machine.
    """

    def __init__(self, task: Task[A], log: RecordLog[Any], token: str) -> None:
        self.task, self.log, self.token = task, log, token

    def respond(self, request: Request) -> Response:
        try:
            return self._respond(request)
        except (RequestError, AnswerFileError) as error:
            status = error.status if isinstance(error, RequestError) else 500
            return render("message.html", status=status, title="The request failed", text=str(error))

    def _respond(self, request: Request) -> Response:
        url = checked_url(request)
        token, _, page = url.path.lstrip("/").partition("/")
        own = hmac.compare_digest(token.encode(), self.token.encode())
        if own and page in STATIC and request.method == "GET":
            return Response(200, (files(__package__) / "static" / page).read_bytes(), STATIC[page])
        routes = {("GET", ""): self._start, ("GET", "pair"): self._show, ("POST", "answer"): self._answer}
        if not own or (route := routes.get((request.method, page))) is None:
            raise RequestError(404, "Page not found: open the address that the command printed.")
        return route(read_fields(url.query.encode() if request.method == "GET" else request.body))

    def _start(self, _: Fields) -> Response:
        names = sorted({answer.annotator for answer in self.log.answers if answer.annotator})
        known = [self._rounds(name) for name in names]
        return render(
            "start.html", form=self.task.form, pairs=len(self.task.pair_ids), known=known, longest=MAX_NAME_LENGTH
        )

    def _show(self, fields: Fields) -> Response:
        rounds = self._rounds(annotator_name(fields))
        wanted = one_field(fields, "round", "2" if _second_begun(rounds) else "1")
        current = rounds[-1] if wanted == "2" else rounds[0]
        index = _requested_index(fields, current)
        if index is None:
            repeated = len(rounds[1].order) if current.number == 1 and len(rounds) > 1 else 0
            begun = _second_begun(rounds)
            return render("done.html", form=self.task.form, round=current, repeated=repeated, started=begun)
        pair_id = current.order[index]
        answer = current.answers.get(pair_id)
        page = self.task.page(current, pair_id)
        shown: dict[str, Any] = {
            "round": current, "index": index, "key": page_key(pair_id, current), "form": self.task.form,
            "page": page,
            "questions": self._questions(page), "longest": MAX_NOTE_LENGTH,
            "answered": answer is not None, "note": getattr(answer, "note", ""),
            "checked": set(self.task.values(answer)) if answer else (),
        }  # fmt: skip
        return render("pair.html", **shown)

    def _answer(self, fields: Fields) -> Response:
        name, number, key = annotator_name(fields), one_field(fields, "round"), one_field(fields, "key")
        rounds = {str(found.number): found for found in self._rounds(name)}
        if number not in ("1", "2"):
            raise RequestError(400, "The round must be 1 or 2.")
        if number not in rounds:
            raise RequestError(409, "Complete the first round before the second.")
        if number == "1" and _second_begun([*rounds.values()]):
            raise RequestError(409, "The second round has begun: choices of the first round can no longer change.")
        current = rounds[number]
        pair_id = next((pair_id for pair_id in current.order if page_key(pair_id, current) == key), None)
        if pair_id is None:
            raise RequestError(409, "This pair is no longer in this round: continue from the start page.")
        for question in self._questions(self.task.page(current, pair_id)):
            if one_field(fields, question.name, "") not in [option.value for option in question.options]:
                raise RequestError(400, self.task.form.missing)
        common = {
            "annotator": name,
            "pair_id": pair_id,
            "note": one_field(fields, "note", "").replace("\r\n", "\n"),
            "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }
        try:
            self.log.append(self.task.answer(current, pair_id, fields, common))
        except ValidationError as error:
            raise RequestError(400, f"The answer was not saved: {explain(error)}.") from None
        there = f"/{quote(self.token)}/pair?{urlencode({'annotator': name, 'round': number})}"
        return Response(303, headers={"Location": there})

    def _questions(self, page: PairPage) -> Sequence[Question]:
        return self.task.form.questions if page.questions is None else page.questions

    def _rounds(self, name: str) -> list[Round[A]]:
        return self.task.rounds(self.log.answers, name)


def page_key(pair_id: str, current: Round[Any]) -> str:
    """The name of a pair on its page. The pair id is no option, because it is a hash of the label too."""
    return content_hash("page", pair_id, current.annotator, current.number)


def open_site(task: Task[Any], answers: Path) -> AnnotationSite[Any]:
    """Open the answer file of a task for writing and return a site with a new token.

    Raises:
        AnswerFileError: The file cannot be opened, is invalid, is in use by another process, or has answers to other
            pairs.
    """
    log = RecordLog(answers, task.record)
    check_known((answer.pair_id for answer in log.answers), set(task.pair_ids), answers)
    return AnnotationSite(task, log, token_urlsafe(16))


def _second_begun(rounds: list[Round[A]]) -> bool:
    return any(found.answered for found in rounds[1:])


def _requested_index(fields: Fields, current: Round[A]) -> int | None:
    """The index for the field `at`, which counts from 1; without it, that of the first pair without an answer."""
    at, count = one_field(fields, "at", ""), len(current.order)
    if not at:
        return current.next_index()
    if not at.isascii() or not at.isdigit() or not 1 <= int(at) <= count:
        raise RequestError(404, f"There are pairs 1 to {count}.")
    return int(at) - 1


HOST = "127.0.0.1"
MAX_BODY_BYTES = 64 * 1024
"""The largest request body. Larger requests get status 413."""
MAX_DISCARDED = 16 * 2**20
"""What is read of a body that is too large: the browser of a connection that is closed before shows no response."""
TIMEOUT_S = 30.0
"""Socket timeout of a connection, in seconds."""


class AuditServer(ThreadingHTTPServer):
    """A server of one annotation site, with one thread per connection. Port 0 selects a free port.

    Raises:
        JudgeError: The port cannot be used.
    """

    daemon_threads = True

    def __init__(self, site: AnnotationSite[Any], port: int) -> None:
        self.site = site
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "a port is a number from 0 to 65535"
            raise JudgeError(f"port {port} of {HOST} cannot be used ({reason}): choose another with --port") from None

    @property
    def url(self) -> str:
        """The address of the start page. It contains the site's token."""
        return f"http://{HOST}:{self.server_address[1]}/{self.site.token}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore disconnects and timeouts of the browser. Print the traceback of any other error."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    """Passes requests to `LocalSite.respond` and sends the responses."""

    server: AuditServer
    server_version, sys_version = "judge-r1", ""
    timeout = TIMEOUT_S

    def do_GET(self) -> None:
        self._send(self.server.site.respond(self._request(b"")))

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > MAX_BODY_BYTES:
            self.rfile.read(min(int(length), MAX_DISCARDED) if length.isascii() and length.isdigit() else 0)
            self._send(Response(413, b"The request is too large or has no Content-Length.", "text/plain"))
            return
        self._send(self.server.site.respond(self._request(self.rfile.read(int(length)))))

    def _request(self, body: bytes) -> Request:
        hosts = self.headers.get_all("Host", [])
        return Request(self.command, self.path, hosts[0] if len(hosts) == 1 else "", self.headers.get("Origin"), body)

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", f"{response.type}; charset=utf-8")
        self.send_header("Content-Length", str(len(response.body)))
        for name, value in {**HEADERS, **response.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, because request lines contain the token."""
