"""Hostile HTTP clients against a server process: floods, half requests, random bytes, and requests while it stops."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from hostile_clients import JUDGE, Reply, connect, mutated, probing, read_reply, repeated, send_all
from paths import REPO, SUPPORT
from process_faults import short_and_long
from serve_for_attacks import CONNECTIONS, LIMITS
from serving_fixture import PAIR, wait_for
from two_nodes import free_port

from judge_r1.serving.middleware.api_keys import add_key
from scripts.bench.serve import cpu_seconds, rss

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="attackers use several loopback addresses")
MIB = 2**20
BODY = json.dumps(PAIR).encode()
Count = Callable[[str, int], None]


@dataclass(frozen=True)
class Server:
    process: "subprocess.Popen[bytes]"
    port: int
    key: str
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def bearer(self) -> bytes:
        return f"Authorization: Bearer {self.key}\r\n".encode()

    def judge_head(self, more: str) -> bytes:
        return JUDGE + self.bearer + more.encode() + b"\r\n\r\n"

    def judges(self) -> bool:
        """Whether a valid request is judged."""
        headers = {"Authorization": f"Bearer {self.key}"}
        return httpx.post(f"{self.url}/v1/judge", json=PAIR, headers=headers, timeout=30).status_code == 200


@contextmanager
def running(folder: Path, seconds: float = 0.0, lag: float = 0.0) -> Iterator[Server]:
    key, port, log = add_key(folder / "keys.json", "ana"), free_port(), folder / "log"
    script = [sys.executable, str(SUPPORT / "serve_for_attacks.py")]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*script, str(port), str(folder / "keys.json"), str(seconds), str(lag)],
            stdout=out,
            stderr=out,
            env={**os.environ, "PYTHONPATH": f"{SUPPORT}{os.pathsep}{REPO}"},
        )
    server = Server(process, port, key, log)
    try:
        with httpx.Client() as client:
            wait_for(lambda: process.poll() is not None or _ready(client, server.url), 120)
        yield server
    finally:
        process.kill()
        process.wait(180)


def _ready(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(f"{url}/readyz").status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server")) as started:
        yield started
        assert b"Traceback" not in started.log.read_bytes()


FLOODS = {
    "one long header": (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"a" * 65536),
    "one long header, in small pieces": (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"a" * 64),
    "one long header name": (b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"a" * 4096),
    "many headers": (b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"a: b\r\n" * 500),
    "a long path": (b"GET /", b"a" * 4096),
    "empty lines": (b"", b"\r\n" * 2048),
    "a long method": (b"", b"A" * 4096),
    "a long chunk extension": (JUDGE + b"Transfer-Encoding: chunked\r\nKEY\r\n1;a=", b"x" * 4096),
    "long trailers": (JUDGE + b"Transfer-Encoding: chunked\r\nKEY\r\n1\r\n{\r\n0\r\n", b"a: b\r\n" * 500),
    "a long trailer": (JUDGE + b"Transfer-Encoding: chunked\r\nKEY\r\n1\r\n{\r\n0\r\na: ", b"x" * 4096),
}


@pytest.mark.parametrize("size", short_and_long(8 * MIB, 400 * MIB))
@pytest.mark.parametrize("name", FLOODS)
def test_endless_heads_are_refused_in_linear_time(server: Server, name: str, size: int, attacks: Count) -> None:
    first, piece = FLOODS[name]
    used = cpu_seconds(server.process.pid)
    with probing(server.port) as probe:
        reply = send_all(server.port, repeated(first.replace(b"KEY\r\n", server.bearer + b"\r\n"), piece, size))
    attacks("endless heads and trailers, MiB", size // MIB)
    assert reply.closed
    assert reply.status in (400, 431) or (reply.reset and reply.sent < size)
    assert reply.sent < 24 * MIB
    assert cpu_seconds(server.process.pid) - used < 1.0
    assert probe.failures == 0
    assert rss(server.process.pid) < 400 * MIB


HALF = {
    "nothing": (b"", 408),
    "half a head": (b"GET / HTTP/1.1\r\nHost: loc", 408),
    "half a body": (JUDGE + b"Content-Length: 100\r\nKEY\r\n{", 408),
    "half a chunk": (JUDGE + b"Transfer-Encoding: chunked\r\nKEY\r\n5\r\n{", 408),
    "half a body without a key": (JUDGE + b"Content-Length: 100\r\n\r\n{", 401),
    "half a body for a public page": (b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", 405),
}


@pytest.mark.parametrize("count", short_and_long(10, 64))
@pytest.mark.parametrize("name", HALF)
def test_half_requests_time_out(server: Server, name: str, count: int, attacks: Count) -> None:
    sent, status = HALF[name]
    longest = max(CONNECTIONS.head_s, LIMITS.body_s) + 3
    with ExitStack() as stack, probing(server.port) as probe:
        open_connections = [stack.enter_context(connect(server.port)) for _ in range(count)]
        for connection in open_connections:
            connection.sendall(sent.replace(b"KEY\r\n", server.bearer + b"\r\n"))
        until = time.monotonic() + longest
        replies = [read_reply(connection, max(0.1, until - time.monotonic())) for connection in open_connections]
    attacks("half requests", count)
    assert all(reply.closed and not reply.reset for reply in replies)
    assert {reply.status for reply in replies} == {status}
    assert probe.failures == 0


@pytest.mark.parametrize(
    "sent", [b"GET /", b"GET / HTTP/1.1\r\nX: ", JUDGE + b"Content-Length: 4000\r\nKEY\r\n", b"\r\n"]
)
def test_a_trickle_does_not_extend_the_time(server: Server, sent: bytes, attacks: Count) -> None:
    """One byte every 50 ms: the time for a head or body is total, not since the last byte."""
    started = time.monotonic()
    with connect(server.port) as connection:
        connection.sendall(sent.replace(b"KEY\r\n", server.bearer + b"\r\n"))
        reply = None
        while reply is None and time.monotonic() - started < 10:
            connection.settimeout(0.05)
            try:
                reply = Reply(connection.recv(65536))
            except TimeoutError:
                connection.sendall(b"\n" if sent == b"\r\n" else b"a")
    attacks("trickled requests", 1)
    assert reply is not None
    assert reply.status == 408
    assert time.monotonic() - started < max(CONNECTIONS.head_s, LIMITS.body_s) + 2


def test_an_idle_connection_is_closed(server: Server) -> None:
    with connect(server.port) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        reply = read_reply(connection, 10)
    assert (reply.statuses, reply.closed, reply.reset) == ([200], True, False)


def test_connections_are_limited_by_address_and_in_total(server: Server, attacks: Count) -> None:
    with ExitStack() as stack:
        mine = [stack.enter_context(connect(server.port)) for _ in range(CONNECTIONS.per_client)]
        with connect(server.port) as one_more:
            reply = read_reply(one_more, 20)
        assert (reply.status, b"Retry-After: 1\r\n" in reply.data, reply.reset) == (503, True, False)
        assert b"your address has 64 connections" in reply.data
        assert httpx.get(f"{server.url}/healthz", timeout=20).status_code == 200  # of another address
        others = CONNECTIONS.total - CONNECTIONS.per_client
        mine += [stack.enter_context(connect(server.port, "127.0.0.3")) for _ in range(others)]
        assert httpx.get(f"{server.url}/healthz", timeout=20).status_code == 503
    attacks("connections over a limit", 2)
    wait_for(lambda: httpx.get(f"{server.url}/healthz", timeout=20).status_code == 200)


@pytest.mark.parametrize("key", ["", "Authorization: Bearer wrong\r\n"])
def test_a_key_is_checked_before_the_body_is_read(server: Server, key: str, attacks: Count) -> None:
    head = JUDGE + f"{key}Content-Length: 4000000\r\nExpect: 100-continue\r\n\r\n".encode()
    reply = send_all(server.port, [head])
    assert (reply.statuses, reply.closed) == ([401], True)  # no 100 Continue
    assert b"connection: close" in reply.data.lower()
    flood = send_all(server.port, repeated(head, b" " * 65536, 100 * MIB))
    assert flood.status == 401 or flood.reset
    assert flood.sent < 24 * MIB
    attacks("bodies without a key", 2)


MALFORMED = [
    b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}   ",
    b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n{}\r\n0\r\n\r\n",
    b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{}",
    b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n{}",
    b"GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n",
    b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nX: y\r\nhOsT: evil.example\r\n\r\n",
    b"GET / HTTP/1.0\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /v1/cases HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100,
]
"""Ambiguous lengths, hosts and keys, wrong chunks, control characters, other protocols."""


def test_malformed_requests_are_refused_with_a_sentence(server: Server, attacks: Count) -> None:
    for sent in MALFORMED:
        reply = send_all(server.port, [sent], 10)
        assert reply.closed, sent
        assert reply.statuses in ([400], [401]), sent  # 401: refused before its body is parsed
        assert b'{"error": "' in reply.data or b'{"error":"' in reply.data, sent
    attacks("malformed requests", len(MALFORMED))


def test_an_upgrade_to_another_protocol_is_ignored(server: Server, attacks: Count) -> None:
    for protocol in (b"websocket", b"h2c"):
        upgrade = b"Connection: Upgrade\r\nUpgrade: %b\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" % protocol
        with connect(server.port) as connection:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + upgrade + b"\r\n")
            reply = read_reply(connection, 10)
        assert (reply.statuses, reply.closed) == ([200], True)
    attacks("upgrades to other protocols", 2)


@pytest.mark.parametrize("length", [len(BODY) - 5, len(BODY) + 50])
def test_a_wrong_content_length_is_refused(server: Server, length: int, attacks: Count) -> None:
    """The bytes after a body that is declared too short are no request; one that is declared too long never ends."""
    with connect(server.port) as connection:
        connection.sendall(server.judge_head(f"Content-Length: {length}") + BODY)
        reply = read_reply(connection, 10)
    attacks("wrong content lengths", 1)
    assert reply.closed
    assert reply.statuses in ([400], [422], [422, 400], [408])


@pytest.mark.parametrize("count", short_and_long(200, 10_000))
def test_random_and_mutated_requests(server: Server, count: int, attacks: Count) -> None:
    """No answer is a 5xx, and the server answers afterwards as before."""
    valid = server.judge_head(f"Content-Length: {len(BODY)}") + BODY
    before = rss(server.process.pid)

    def one(seed: int) -> Reply:
        draw = random.Random(seed)
        sent = draw.randbytes(draw.randint(1, 2000)) if seed % 4 == 0 else mutated(draw, valid)
        return send_all(server.port, [sent], 10)

    with probing(server.port) as probe, ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(one, range(count)))
    attacks("random and mutated requests", count)
    assert all(reply.closed for reply in replies)
    assert [status for reply in replies for status in reply.statuses if status >= 500] == []
    assert probe.failures == 0
    assert server.judges()
    assert rss(server.process.pid) < before + 100 * MIB


@pytest.mark.parametrize("count", short_and_long(20_000, 1_000_000))
def test_a_pipeline_is_bounded(server: Server, count: int, attacks: Count) -> None:
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    short = send_all(server.port, [request * 20], 10)
    assert short.statuses == [200] * 20
    with probing(server.port) as probe:
        reply = send_all(server.port, repeated(b"", request * 1000, count * len(request)), 30)
    attacks("pipelined requests", count)
    assert reply.closed
    assert len(reply.statuses) <= 20 + CONNECTIONS.pipelined
    assert probe.failures == 0
    assert probe.worst < 2


@pytest.mark.parametrize("count", short_and_long(50_000, 2_000_000))
def test_chunks_of_one_byte(server: Server, count: int, attacks: Count) -> None:
    head = server.judge_head("Transfer-Encoding: chunked")
    chunked = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY) + b"0\r\n\r\n"
    assert send_all(server.port, [head + chunked], 10).statuses == [200]
    with probing(server.port) as probe:
        reply = send_all(server.port, repeated(head, b"1\r\n \r\n" * 1000, count * 6), 30)
    attacks("chunks of one byte", count)
    assert reply.closed
    assert probe.failures == 0
    assert probe.worst < 2


def test_a_client_that_reads_nothing_is_disconnected(server: Server, attacks: Count) -> None:
    headers = {"Authorization": f"Bearer {server.key}"}
    case = httpx.put(f"{server.url}/v1/cases", json={"context": "x" * 2_000_000}, headers=headers, timeout=30).json()
    request = f"GET /v1/cases/{case['case_id']} HTTP/1.1\r\nHost: localhost\r\n".encode() + server.bearer + b"\r\n"
    with ExitStack() as stack:
        deaf = [stack.enter_context(connect(server.port)) for _ in range(5)]
        for connection in deaf:
            connection.sendall(request * 8)
        time.sleep(CONNECTIONS.send_s + 1)
        replies = [read_reply(connection, 10) for connection in deaf]
    attacks("clients that read nothing", len(deaf))
    assert all(reply.closed and len(reply.data) < 16_000_000 for reply in replies)


BAD_JSON = {
    b'{"reasoning_a": "a", "reasoning_a": "b", "reasoning_b": "c"}': "repeats the key 'reasoning_a'",
    b'{"reasoning_a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}": "200 levels",
    b'{"reasoning_a": ' + b"9" * 6000 + b"}": "digits",
    rb'{"reasoning_a": "\ud800", "reasoning_b": "c"}': "surrogate",
    b'\xef\xbb\xbf{"reasoning_a": "a", "reasoning_b": "b"}': "byte order mark",
    b'{"reasoning_a": NaN, "reasoning_b": "b"}': "body",
    b'{"reasoning_a": "\xff"}': "UTF-8",
    json.dumps(PAIR).encode("utf-16"): "UTF-16",
    BODY[:-5]: "cut off",
    b'{"requests": [' + b",".join([b"{}"] * 500_000) + b"]}": "more than 5096 values",
    b"": "JSON object",
    b"[]": "JSON object",
}


@pytest.mark.parametrize("path", ["/v1/judge", "/v1/judge/batch", "/v1/judge/stream", "/v1/score", "/v1/cases"])
def test_hostile_json_is_refused_with_a_sentence(server: Server, path: str, attacks: Count) -> None:
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    used = cpu_seconds(server.process.pid)
    with httpx.Client(base_url=server.url, headers=headers, timeout=30) as client:
        for sent, words in BAD_JSON.items():
            answer = client.request("PUT" if path.endswith("cases") else "POST", path, content=sent)
            assert answer.status_code == 422, sent[:60]
            if b"[]" != sent != b"":
                assert words in answer.json()["error"], sent[:60]
    assert cpu_seconds(server.process.pid) - used < 5
    assert rss(server.process.pid) < 600 * MIB
    attacks("bodies of hostile JSON", len(BAD_JSON))


def _wait_for_judgments(server: Server, count: int) -> None:
    """Waits until `count` judgments run."""
    with httpx.Client(headers={"Authorization": f"Bearer {server.key}"}, verify=False) as client:
        wait_for(lambda: f"judge_r1_judgments_running {count}.0" in client.get(f"{server.url}/metrics").text)


@pytest.mark.parametrize("rounds", short_and_long(1, 20))
def test_sigterm_under_load_resets_no_request(tmp_path: Path, rounds: int, attacks: Count) -> None:
    """Accepted requests are judged. Later ones get 503, on new and on kept connections; half-open ones end."""
    for number in range(rounds):
        (folder := tmp_path / str(number)).mkdir()
        _stop_under_load(folder, 40)
        attacks("requests at SIGTERM", 40)


def _stop_under_load(folder: Path, count: int) -> None:
    """Ten of `count` clients wait for a judgment at SIGTERM; the others send their requests within 0.5 s after it."""
    outcomes: Counter[str] = Counter()
    with running(folder, 2.5) as server, ExitStack() as stack:
        headers = {"Authorization": f"Bearer {server.key}"}
        half = [b"", b"GET / HT", server.judge_head("Content-Length: 99") + b"{", JUDGE + b"Content-Length: 9\r\n\r\n"]
        made, stopped = threading.Barrier(count), threading.Event()

        def one(number: int) -> str:
            """Before SIGTERM, every other client makes one request on the connection that it keeps."""
            with httpx.Client(headers=headers, timeout=30, verify=False) as client:
                made.wait(60)
                kept = number % 2 == 0 and client.get(f"{server.url}/healthz").status_code == 200
                if number >= 10:
                    stopped.wait(30)
                    time.sleep((number - 10) * 0.5 / count)
                try:
                    answer = client.post(f"{server.url}/v1/judge", json=PAIR)
                except httpx.ConnectError:
                    return "refused connection"
                except httpx.HTTPError as error:
                    return f"{type(error).__name__} (kept: {kept})"
            if answer.status_code == 503:
                assert answer.headers["retry-after"] == "5"
                assert answer.headers["connection"] == "close"
            return str(answer.status_code)

        with ThreadPoolExecutor(count) as pool:
            results = [pool.submit(one, number) for number in range(count)]
            half_open = [stack.enter_context(connect(server.port)) for _ in range(12)]
            for number, connection in enumerate(half_open):
                connection.sendall(half[number % 4])
            _wait_for_judgments(server, 10)
            server.process.send_signal(signal.SIGTERM)
            started = time.monotonic()
            stopped.set()
            outcomes.update(result.result() for result in results)
        assert server.process.wait(180) == 0
        seconds = time.monotonic() - started
        replies = [read_reply(connection, 1) for connection in half_open]
        log = server.log.read_text()
    assert outcomes["200"] >= 10
    assert set(outcomes) <= {"200", "503", "refused connection"}
    assert outcomes["503"] > 0
    assert seconds < CONNECTIONS.drain_s + 4
    assert {reply.status for reply in replies} <= {503, 408, 401}
    assert not any(reply.reset for reply in replies)
    assert "Traceback" not in log


@pytest.mark.parametrize("lag", [0.0, 0.02])
def test_sigterm_loses_no_request_that_was_sent_before(tmp_path: Path, lag: float, attacks: Count) -> None:
    """All requests are sent before the signal: on new and on kept connections, two at once, and in two parts, of which
    the second follows. A server that lags has not read most of them."""
    sent: dict[str, socket.socket] = {}
    with running(tmp_path, 0.2, lag) as server, ExitStack() as stack:
        whole = server.judge_head(f"Content-Length: {len(BODY)}") + BODY
        first, second = whole[:-20], whole[-20:]
        ways = {"new": whole, "kept": whole, "pipelined": whole + whole, "in two parts": first}
        for number in range(48):
            way = list(ways)[number % len(ways)]
            connection = sent[f"{number}, {way}"] = stack.enter_context(connect(server.port))
            if way == "kept":
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        for name, connection in sent.items():
            connection.sendall(ways[name.partition(", ")[2]])
        server.process.send_signal(signal.SIGTERM)
        for name, connection in sent.items():
            if name.endswith("in two parts"):
                connection.sendall(second)
        with ThreadPoolExecutor(len(sent)) as pool:
            replies = dict(zip(sent, pool.map(lambda one: read_reply(one, 20), sent.values()), strict=True))
        assert server.process.wait(180) == 0
        log = server.log.read_text()
    answered = {name: reply.statuses for name, reply in replies.items()}
    assert answered == {name: [200, 200] if name.endswith("pipelined") else [200] for name in sent}
    assert "Traceback" not in log
    attacks("requests sent before SIGTERM", 60)


def test_a_shutdown_ends_at_its_deadline(tmp_path: Path, attacks: Count) -> None:
    """A request that runs longer gets 503, too."""
    with running(tmp_path, 60.0) as server, ThreadPoolExecutor(1) as pool:
        headers = {"Authorization": f"Bearer {server.key}"}
        answer = pool.submit(httpx.post, f"{server.url}/v1/judge", json=PAIR, headers=headers, timeout=60)
        _wait_for_judgments(server, 1)
        server.process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        assert server.process.wait(180) == 0
        assert CONNECTIONS.drain_s - 1 < time.monotonic() - started < CONNECTIONS.drain_s + 5
        assert answer.result().status_code == 503
        assert "Traceback" not in server.log.read_text()
    attacks("shutdowns with an endless request", 1)
