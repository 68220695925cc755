"""The human audit on 127.0.0.1: the standard library's server around `Site`."""

import secrets
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from data_builders.audit.annotation.annotations import AnswerLog
from data_builders.audit.annotation.assignment import check_answers
from data_builders.audit.annotation.pages import HEADERS, Request, Response, Site
from judge_r1.core.errors import JudgeError
from judge_r1.core.pair_set import PairSet

HOST = "127.0.0.1"
LARGEST_BODY = 64 * 1024
SECONDS = 30.0
"""How long a connection may keep a thread waiting."""


class AuditServer(ThreadingHTTPServer):
    """One site on one port; 0 takes a free one."""

    daemon_threads = True

    def __init__(self, site: Site, port: int) -> None:
        self.site = site
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or "a port is a number from 0 to 65535"
            raise JudgeError(f"port {port} of {HOST} cannot be used ({reason}): name another with --port") from None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_address[1]}/{self.site.token}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that goes away in the middle is no event; anything else prints its traceback."""
        if not isinstance(sys.exc_info()[1], ConnectionError | TimeoutError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: AuditServer
    server_version, sys_version = "judge-r1", ""
    timeout = SECONDS

    def do_GET(self) -> None:
        self._send(self.server.site.respond(self._request(b"")))

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > LARGEST_BODY:
            self._send(Response(413, b"The request is too large, or does not say how large it is.", "text/plain"))
            return
        self._send(self.server.site.respond(self._request(self.rfile.read(int(length)))))

    def _request(self, body: bytes) -> Request:
        return Request(self.command, self.path, self.headers.get("Host", ""), self.headers.get("Origin"), body)

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", f"{response.type}; charset=utf-8")
        self.send_header("Content-Length", str(len(response.body)))
        for name, value in {**HEADERS, **response.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(response.body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a log of requests would hold the token."""


def open_audit(data: PairSet, answers: Path) -> Site:
    """A site with a new token; BadAnswers where the file is of other pairs or in use."""
    log = AnswerLog(answers)
    check_answers(data, log.answers, answers)
    return Site(data, log, secrets.token_urlsafe(16))
