"""The client against a misbehaving server: a real socket with scripted responses."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from serving_fixture import PAIR

from judge_r1.client import Client, RetriesExhausted, ServerError
from judge_r1.client.responses import TransientError

GOOD = {
    "verdict": {"kind": "comparison", "winner": "A"},
    "id": "1", "judge": "toy", "valid": True, "winner": "A", "comparison": "A>B", "violated_principles": [],
    "explanation": None, "confidence": None, "evidence": [], "searches": 0, "ended": "answer", "seconds": 0.1,
}  # fmt: skip
Respond = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def scripted_server(*responses: Respond, port: int = 0) -> Iterator[tuple[str, list[float]]]:
    """A server that gives these responses in order and repeats the last one. Yields its URL and the request times."""
    times: list[float] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            times.append(time.monotonic())
            responses[min(len(times), len(responses)) - 1](self)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", times
    finally:
        server.shutdown()
        server.server_close()


def status(code: int, body: object = None, **headers: str) -> Respond:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body or {"error": f"it is {code}"}).encode()
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return respond


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.close()


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Sends a byte every 0.1 s, so that no single read times out."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    try:
        for _ in range(100):
            handler.wfile.write(b" ")
            time.sleep(0.1)
    except OSError:
        pass


@pytest.mark.parametrize("fault", [status(429), status(503), status(500), status(502), status(408), hang_up])
def test_transient_errors_are_retried(fault: Respond, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge_r1.client.responses.BACKOFF_S", 0.01)
    with scripted_server(fault, fault, status(200, GOOD)) as (url, times), Client(url) as judge:
        assert judge.judge(**PAIR).winner == "A"
    assert len(times) == 3


def test_retry_after_is_obeyed() -> None:
    with scripted_server(status(429, Retry_After="1"), status(200, GOOD)) as (url, times), Client(url) as judge:
        judge.judge(**PAIR)
    assert times[1] - times[0] >= 1


def test_retry_after_beyond_the_deadline_fails_at_once() -> None:
    with scripted_server(status(429, Retry_After="60")) as (url, times), Client(url, seconds=5) as judge:
        started = time.monotonic()
        with pytest.raises(RetriesExhausted, match=r"deadline of 5 s .*it is 429"):
            judge.judge(**PAIR)
    assert time.monotonic() - started < 4
    assert len(times) == 1


def test_a_slow_response_meets_the_deadline() -> None:
    with scripted_server(drip) as (url, _), Client(url, seconds=0.5) as judge:
        started = time.monotonic()
        with pytest.raises(RetriesExhausted, match=r"within 0.5 s"):
            judge.judge(**PAIR)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (status(302, Location="http://127.0.0.1/"), "redirects"),
        (status(200, b"<html>"), "returns no JudgeResponse"),
        (status(200, {k: v for k, v in GOOD.items() if k != "winner"}), r"winner.*judge-r1 of this version"),
        (status(418, b"a\n teapot"), "status 418.*a teapot"),
        (status(504), "gave up"),
        (status(501, b"<html>", Content_Type="text/html;charset=utf-8"), "with a web page: is it a judge-r1 server"),
    ],
)
def test_permanent_errors_fail_at_once(answer: Respond, says: str) -> None:
    with scripted_server(answer) as (url, times), Client(url) as judge, pytest.raises(ServerError, match=says):
        judge.judge(**PAIR)
    assert len(times) == 1


def test_an_unreachable_server() -> None:
    with scripted_server(status(200)) as (url, _):
        pass
    with Client(url, attempts=1) as judge, pytest.raises(RetriesExhausted, match="ConnectError"):
        judge.judge(**PAIR)
    with Client(url) as judge, pytest.raises(RetriesExhausted, match="ConnectError"):
        list(judge.stream(**PAIR))


def test_a_server_that_has_answered_and_is_gone_is_waited_for_until_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loading a judge takes longer than all attempts."""
    monkeypatch.setattr("judge_r1.client.responses.BACKOFF_S", 0.01)
    with scripted_server(status(200, GOOD)) as (url, _):
        judge = Client(url, attempts=2, seconds=20)
        judge.judge(**PAIR)
    with judge, ThreadPoolExecutor(1) as pool:
        again = pool.submit(judge.judge, **PAIR)
        time.sleep(0.5)
        assert not again.done()
        with scripted_server(status(200, GOOD), port=int(url.rpartition(":")[2])):
            assert again.result().winner == "A"


@pytest.mark.parametrize("events", ["", "event: turn\ndata: {}\n\n", "event: dance\ndata: {}\n\n", "data: 1\n\n"])
def test_a_malformed_stream(events: str) -> None:
    with scripted_server(status(200, events.encode())) as (url, _), Client(url) as judge, pytest.raises(ServerError):
        list(judge.stream(**PAIR))


def test_unknown_fields_and_events_of_a_newer_server_are_ignored() -> None:
    newer = GOOD | {"mood": "calm", "evidence": [{"start": 0, "end": 1, "text": "x", "score": 1.0, "kind": "new"}]}
    with scripted_server(status(200, newer)) as (url, _), Client(url) as judge:
        assert judge.judge(**PAIR).winner == "A"
    events = f"event: dance\ndata: {{}}\n\nevent: verdict\ndata: {json.dumps(newer)}\n\n"
    with scripted_server(status(200, events.encode())) as (url, _), Client(url) as judge:
        [verdict] = judge.stream(**PAIR)
    expected = {k: v for k, v in GOOD.items() if k != "evidence"}
    assert verdict.model_dump(exclude={"turns", "evidence", "memory", "answer", "events", "unread"}) == expected


def test_waits_grow_and_are_bounded() -> None:
    assert all(0 <= TransientError("x").wait(attempt) <= min(30, 0.5 * 2**attempt) for attempt in range(1, 20))
    assert 7 <= TransientError("x", 7.0).wait(1) <= 7.5


def test_a_client_that_is_not_closed_lets_the_process_end() -> None:
    """Also where the last call has raised, and its traceback refers to the client."""
    call = "Client('http://127.0.0.1:1', attempts=1).judge(reasoning_a='a', reasoning_b='b')"
    code = f"from judge_r1.client import Client; {call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, "RetriesExhausted" in done.stderr) == (1, True)
