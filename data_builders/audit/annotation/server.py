"""HTTP server of the annotation pages, on 127.0.0.1 only."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from data_builders.audit.annotation.local_site import HEADERS, Request, Response
from data_builders.audit.annotation.site import AnnotationSite
from judge_r1.core.errors import JudgeError

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
