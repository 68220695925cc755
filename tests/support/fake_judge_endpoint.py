"""A fake judge endpoint: real HTTP on 127.0.0.1 around a function, with seeded faults.

    with JudgeServer(lambda path, body: (200, {...}), faults=0.3) as server:
        spec = f"direct@{server.url}#toy"

A fault depends on the request body and on how often it was sent before, never on order. No body meets more than two
faults in a row. `accepted` counts connections, `received` requests by the hash of their body, and `completed` those
with a complete answer. `pages` are the replies to GET by path.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any

from judge_r1.core.record_base import content_hash

Answer = Callable[[str, dict[str, Any]], tuple[int, Any]]
"""Maps (path, request body) to (status, response body). Bytes are sent as they are."""
FAULTS = ("busy", "broken", "garbage", "gone")


class JudgeServer:
    def __init__(
        self,
        answer: Answer,
        *,
        faults: float = 0.0,
        wait: Callable[[], None] = lambda: None,
        pages: Mapping[str, Any] | None = None,
    ) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.received: Counter[str] = Counter()
        self.completed: Counter[str] = Counter()
        self.running = self.peak = self.accepted = 0
        lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                with lock:
                    outer.accepted += 1

            def do_GET(self) -> None:
                page = (pages or {}).get(self.path)
                self._send(404 if page is None else 200, json.dumps(page).encode())

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                key = content_hash(body)
                with lock:
                    outer.bodies.append(body)
                    outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                    attempt = outer.received[key]
                    outer.received[key] += 1
                    outer.running += 1
                    outer.peak = max(outer.peak, outer.running)
                try:
                    wait()
                    self._answer(body, key, attempt)
                finally:
                    with lock:
                        outer.running -= 1

            def _answer(self, body: dict[str, Any], key: str, attempt: int) -> None:
                rng = Random(content_hash("fault", key, attempt))
                fault = rng.choice(FAULTS) if attempt < 2 and rng.random() < faults else None
                if fault == "gone":
                    self.close_connection = True
                    self.connection.close()
                elif fault == "garbage":
                    self._send(200, b"<html>hiccup</html>")
                elif fault:
                    self._send(429 if fault == "busy" else 500, b'{"error": {"message": "later"}}')
                else:
                    status, data = answer(self.path, body)
                    outer.completed[key] += 1
                    self._send(status, data if isinstance(data, bytes) else json.dumps(data).encode())

            def _send(self, status: int, data: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def handle(self) -> None:
                with suppress(OSError):  # either side closed the connection
                    super().handle()

            def log_message(self, *_: Any) -> None:
                pass

            def finish(self) -> None:
                with suppress(OSError, ValueError):
                    super().finish()

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "JudgeServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


def chat_completion(text: str | None, *, finish: str = "stop", **more: Any) -> tuple[int, Any]:
    """A chat completion. `reasoning_content`, `refusal` etc. go into the message, `logprobs` next to it."""
    logprobs = more.pop("logprobs", None)
    choice = {"message": {"role": "assistant", "content": text, **more}, "finish_reason": finish, "logprobs": logprobs}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return 200, {"model": "toy", "choices": [choice], "usage": usage}


def error_response(status: int, message: str, code: str | None = None) -> tuple[int, Any]:
    return status, {"error": {"message": message, "code": code}}
