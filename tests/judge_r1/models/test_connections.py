"""The connections of a client of an endpoint: shared by its calls, limited, closed with their event loop."""

import asyncio
import gc
import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from judge_r1.core.endpoint import EndpointError, RetryPolicy
from judge_r1.models.connections import _proxy_of
from judge_r1.models.http_client import Client
from judge_r1.models.open_model import OpenAIEndpoint


class Endpoint(ThreadingHTTPServer):
    """Answers each call with its body after `wait_s`. It counts open connections and running calls."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.accepted = self.open = self.running = self.peak = 0
        self.wait_s, self.lock = 0.02, threading.Lock()
        self.heads: list[tuple[str, dict[str, str]]] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.accepted += 1
            self.server.open += 1

    def finish(self) -> None:
        super().finish()
        with self.server.lock:
            self.server.open -= 1

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        with self.server.lock:
            self.server.heads.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            self.server.running += 1
            self.server.peak = max(self.server.peak, self.server.running)
        time.sleep(self.server.wait_s)
        with self.server.lock:
            self.server.running -= 1
        self.send_response(200)
        self.send_header("Set-Cookie", "tenant=ana")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def client(url: str, **limits: Any) -> Client:
    return Client(OpenAIEndpoint(url, "m", "NO_KEY"), None, RetryPolicy(**limits))


async def calls(client: Client, count: int) -> list[int]:
    """Makes `count` calls at once, and returns the numbers that were answered."""
    return await asyncio.gather(*(client.post({"n": n}, lambda data: int(data["n"])) for n in range(count)))


def test_all_calls_share_connections_and_a_limit(endpoint: Endpoint) -> None:
    shared = client(endpoint.url, concurrency=4)

    async def rounds() -> None:
        for _ in range(5):
            assert await calls(shared, 12) == list(range(12))

    asyncio.run(rounds())
    assert (endpoint.accepted, endpoint.peak) == (4, 4)
    assert len(endpoint.heads) == 60
    asyncio.run(rounds())
    assert endpoint.accepted == 8


@pytest.mark.parametrize(("url", "contexts"), [("https://localhost:1/v1", 1), ("http://localhost:1/v1", 0)])
def test_all_event_loops_share_a_tls_context_and_http_needs_none(
    url: str, contexts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[ssl.SSLContext] = []

    def create() -> ssl.SSLContext:
        made.append(ssl.create_default_context())
        return made[-1]

    monkeypatch.setattr(httpx, "create_ssl_context", create)
    shared = client(url, concurrency=4)
    for _ in range(2):
        with pytest.raises(EndpointError, match="cannot be reached"):
            asyncio.run(calls(shared, 1))
    assert len(made) == contexts


def test_connections_close_with_their_event_loop(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    """Several loops may use a client at once, each with its own connections."""
    gc.collect()  # sessions of earlier tests are reported now
    caplog.clear()
    shared, started = [client(endpoint.url, concurrency=2)], threading.Barrier(3)

    def one_loop() -> None:
        async def work() -> None:
            await calls(shared[0], 4)
            await asyncio.to_thread(started.wait, 20)
            await calls(shared[0], 4)

        asyncio.run(work())

    threads = [threading.Thread(target=one_loop) for _ in range(2)]
    for thread in threads:
        thread.start()
    started.wait(20)
    assert endpoint.open == endpoint.accepted == 4
    for thread in threads:
        thread.join(20)
    until = time.monotonic() + 10
    while endpoint.open and time.monotonic() < until:
        time.sleep(0.01)
    assert (endpoint.open, endpoint.accepted) == (0, 4)
    with caplog.at_level(logging.ERROR):
        shared.clear()
        gc.collect()
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert errors == []  # aiohttp reports sessions that were not closed


def test_a_client_that_is_dropped_closes_its_connections(endpoint: Endpoint) -> None:
    async def work() -> None:
        await calls(client(endpoint.url), 3)
        assert endpoint.open == 3
        gc.collect()
        until = time.monotonic() + 10
        while endpoint.open:
            assert time.monotonic() < until
            await asyncio.sleep(0.01)

    asyncio.run(work())


def test_a_client_can_be_used_after_it_was_closed(endpoint: Endpoint) -> None:
    async def work() -> None:
        one = client(endpoint.url)
        await one.aclose()
        await calls(one, 2)
        await one.aclose()
        await calls(one, 2)
        await one.aclose()

    asyncio.run(work())
    assert endpoint.accepted == 4


def test_a_cancelled_call_frees_its_slot(endpoint: Endpoint) -> None:
    endpoint.wait_s = 5.0

    async def work() -> list[int]:
        one = client(endpoint.url, concurrency=1)
        stuck = asyncio.ensure_future(calls(one, 1))
        while not endpoint.running:
            await asyncio.sleep(0.01)
        endpoint.wait_s = 0.0
        stuck.cancel()
        return await asyncio.wait_for(calls(one, 3), 3)

    assert asyncio.run(work()) == [0, 1, 2]


def test_no_cookie_goes_from_one_call_to_another(endpoint: Endpoint) -> None:
    async def work() -> None:
        one = client(endpoint.url, concurrency=1)
        for _ in range(3):
            await calls(one, 1)

    asyncio.run(work())
    assert len(endpoint.heads) == 3
    assert not any("cookie" in headers for _, headers in endpoint.heads)


def test_the_proxy_of_the_environment_is_used(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", endpoint.url.replace("//", "//ana:secret@"))
    asyncio.run(calls(client("http://judge.example/v1"), 1))
    [(target, headers)] = endpoint.heads
    assert target == "http://judge.example/v1/chat/completions"
    assert headers["proxy-authorization"] == "Basic YW5hOnNlY3JldA=="
    monkeypatch.setenv("HTTP_PROXY", "127.0.0.1:9")
    asyncio.run(calls(client(endpoint.url), 1))  # this machine needs no proxy
    assert endpoint.heads[1][0] == "/chat/completions"
    assert _proxy_of("http://judge.example/v1") == "http://127.0.0.1:9"
    monkeypatch.setenv("NO_PROXY", "judge.example")
    assert _proxy_of("http://judge.example/v1") is None
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("ALL_PROXY", "socks5://ana:secret@127.0.0.1:9")
    with pytest.raises(EndpointError, match=r"judge\.example: the environment names a proxy of type socks5") as error:
        asyncio.run(calls(client("https://judge.example/v1"), 1))
    assert "secret" not in str(error.value)


def failure(url: str) -> str:
    with pytest.raises(EndpointError) as error:
        asyncio.run(calls(client(url, attempts=1), 1))
    return str(error.value)


def test_the_errors_of_a_connection_are_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closing:
        port = closing.getsockname()[1]

        def close_without_an_answer() -> None:
            connection, _ = closing.accept()
            connection.recv(10_000)
            connection.close()

        threading.Thread(target=close_without_an_answer, daemon=True).start()
        assert "RemoteProtocolError" in failure(f"http://127.0.0.1:{port}")
    assert "ConnectError" in failure(f"http://127.0.0.1:{port}")
    assert "ConnectError" in failure("http://no-such-host.invalid")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate")
def test_a_certificate_must_be_trusted(tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    certificate, key = str(tmp_path / "certificate.pem"), str(tmp_path / "key.pem")
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=judge", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", *options, "-out", certificate, "-keyout", key, "-days", "2"], check=True, capture_output=True
    )
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate, key)
    endpoint.socket = server_side.wrap_socket(endpoint.socket, server_side=True)
    url = endpoint.url.replace("http:", "https:")
    assert "certificate verify failed" in failure(url)
    monkeypatch.setenv("SSL_CERT_FILE", certificate)
    trusting = client(url, concurrency=2)
    assert asyncio.run(calls(trusting, 6)) == list(range(6))
    assert len(endpoint.heads) == 6
