"""The shared retrieval server: batching, back-pressure, tokens, time-outs and restarts, over real sockets."""

import asyncio
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection

import httpx
import pytest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from retrieval.case_index import Hit
from retrieval.client import RemoteRetriever
from retrieval.errors import EmptyQuery, QueueFull, SearchTimeout, ServerClosing, ServerUnavailable, UnknownCase
from retrieval.retriever import Retriever
from retrieval.server.__main__ import RetrievalServer, listen, main, make_server
from retrieval.server.queue import QueueLimits, Searcher, SearchQueue

TEXTS = {f"case {i}": f"Kara paid {i} euros in March. Olga saw it. " * 20 for i in range(6)}
REQUESTS = [(f"case {i % 6}", f"who paid {i} euros") for i in range(30)]


def bm25() -> Retriever:
    return Retriever(TEXTS, method="bm25", passage_words=30)


class Gated:
    """A retriever whose calls wait until `open` is set. It notes their sizes."""

    def __init__(self) -> None:
        self.inner, self.open, self.calls = bm25(), threading.Event(), list[int]()

    def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Hit]]:
        self.calls.append(len(requests))
        assert self.open.wait(20)
        return self.inner.search(requests, k)


@contextmanager
def running(
    retriever: Searcher, *, token: str | None = None, limits: QueueLimits | None = None, port: int = 0
) -> Iterator[tuple[str, RetrievalServer]]:
    listening = listen("127.0.0.1", port)
    server = make_server(retriever, token=token, limits=limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        while not server.started:
            time.sleep(0.01)
        yield url, server
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


def wait_until(ready: object) -> None:
    until = time.monotonic() + 20
    while not ready():  # type: ignore[operator]
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_remote_search_equals_a_local_one() -> None:
    with running(bm25(), token="secret") as (url, _):
        remote = RemoteRetriever(url, token="secret")
        assert remote.search(REQUESTS, 3) == bm25().search(REQUESTS, 3)
        assert remote.search([], 3) == []
        assert remote.search([("case 0", "zebra"), ("case 1", "kara")], 3)[0] == []
        with pytest.raises(UnknownCase, match="case 'x' is unknown"):
            remote.search([("case 0", "kara"), ("x", "kara")], 3)
        with pytest.raises(EmptyQuery):
            remote.search([("case 0", " ")], 3)
        remote.close()


def test_a_search_needs_the_token() -> None:
    with running(bm25(), token="secret") as (url, _):
        for token in (None, "wrong", "sécret"):
            header = {} if token is None else {"Authorization": f"Bearer {token}".encode()}
            answer = httpx.post(f"{url}/search", json={}, headers=header)
            assert answer.status_code == 401
        with pytest.raises(ServerUnavailable, match="a token is required"):
            RemoteRetriever(url, token="wrong").search(REQUESTS, 3)
        assert httpx.get(f"{url}/healthz").json()["ready"] is True


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400), (b"[]", 400), (b"[" * 10_000, 400), (b'{"k": 3, "requests": [], "x": 1}', 422),
        (b'{"k": 0, "requests": [["c", "q"]]}', 422), (b'{"k": true, "requests": [["c", "q"]]}', 422),
        (b'{"k": 3, "requests": []}', 422), (b'{"k": 3, "requests": [["c"]]}', 422),
        (b'{"k": 3, "requests": [["c", 1]]}', 422), (b'{"k": 3, "requests": [["c", "q"]], "timeout_s": 0}', 422),
        (b'{"k": 3, "requests": [["c", "q"]], "timeout_s": NaN}', 422), (b"x" * (5 * 2**20), 413),
        (b'{"k": 3, "k": 1, "requests": [["case 0", "kara"]]}', 400),
        (b'{"k": 3, "requests": [["case 0", {"q": 1, "q": 2}]]}', 400),
    ],
)  # fmt: skip
def test_an_invalid_body_is_refused_with_a_sentence(body: bytes, status: int) -> None:
    with running(bm25()) as (url, _):
        answer = httpx.post(f"{url}/search", content=body)
        assert answer.status_code == status
        assert len(answer.json()["message"]) > 10


@pytest.mark.parametrize("name", ["Host", "Authorization"])
def test_a_repeated_header_is_refused(name: str) -> None:
    """A proxy in front of the server may read the other one."""
    with running(bm25(), token="secret") as (url, _):
        connection = HTTPConnection(url.removeprefix("http://"))
        connection.putrequest("POST", "/search", skip_host=True)
        for header, value in [("Host", "a"), ("Authorization", "Bearer secret"), (name, "b")]:
            connection.putheader(header, value)
        connection.endheaders()
        answer = connection.getresponse()
        assert (answer.status, f"the header {name} is repeated" in answer.read().decode()) == (400, True)
        connection.close()


def test_every_thread_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    made, connection_made = list[object](), HttpToolsProtocol.connection_made

    def count(self: HttpToolsProtocol, transport: asyncio.Transport) -> None:
        made.append(transport)
        connection_made(self, transport)

    monkeypatch.setattr(HttpToolsProtocol, "connection_made", count)
    with running(bm25()) as (url, _):
        remote, together = RemoteRetriever(url), threading.Barrier(32)

        def search(number: int) -> None:
            for _ in range(3):
                together.wait(20)
                assert remote.search([REQUESTS[number % 30]], 3)

        with ThreadPoolExecutor(32) as pool:
            list(pool.map(search, range(32)))
        remote.close()
    assert len(made) <= 32


@pytest.mark.parametrize(
    ("path", "token", "status"), [("search", None, 413), ("search", "secret", 401), ("x", None, 404)]
)
def test_a_large_body_that_is_not_used_gets_its_answer(path: str, token: str | None, status: int) -> None:
    """The client of urllib sends the whole body and closes its connection. A connection that the server closes with
    unread data would be reset."""
    with running(bm25(), token=token) as (url, _):
        request = urllib.request.Request(f"{url}/{path}", data=b"x" * 5_000_000)
        for _ in range(5):
            with pytest.raises(urllib.error.HTTPError) as answer:
                urllib.request.urlopen(request, timeout=20)
            assert answer.value.code == status


def test_a_body_that_never_ends_is_not_waited_for() -> None:
    with running(bm25()) as (url, _):
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), 20) as connection:
            connection.sendall(b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\nx")
            assert connection.recv(4096).startswith(b"HTTP/1.1 404 ")
        with socket.create_connection((host, int(port)), 20) as connection:
            head = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n"
            connection.sendall(head)
            assert connection.recv(4096).startswith(b"HTTP/1.1 404 ")


def test_searches_that_wait_are_one_call_and_each_gets_its_own_answer() -> None:
    gated = Gated()
    with running(gated) as (url, server):
        remote, found = RemoteRetriever(url), dict[int, object]()

        def search(number: int) -> None:
            try:
                found[number] = remote.search([REQUESTS[number]] if number else [("x", "kara")], 3)
            except UnknownCase as error:
                found[number] = error

        threads = [threading.Thread(target=search, args=(number,)) for number in range(12)]
        threads[1].start()
        wait_until(lambda: gated.calls)
        for number in [0, *range(2, 12)]:
            threads[number].start()
        wait_until(lambda: server.queue.waiting == 11)
        gated.open.set()
        for thread in threads:
            thread.join(20)
        assert gated.calls[:2] == [1, 11]  # then one by one, because of the unknown case
        assert isinstance(found[0], UnknownCase)
        assert [found[n] for n in range(1, 12)] == [bm25().search([REQUESTS[n]], 3) for n in range(1, 12)]


def test_too_many_searches_are_refused_and_sent_again() -> None:
    gated = Gated()
    with running(gated, limits=QueueLimits(waiting=2)) as (url, server):
        first = threading.Thread(target=RemoteRetriever(url).search, args=(REQUESTS[:1], 3))
        first.start()
        wait_until(lambda: gated.calls)
        body = {"k": 3, "requests": REQUESTS[:3]}
        answer = httpx.post(f"{url}/search", json=body)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.json()["error"] == "QueueFull"
        gated.open.set()
        first.join(20)
        remote = RemoteRetriever(url, timeout_s=3)
        with pytest.raises(SearchTimeout, match="status 503"):  # three never fit
            remote.search(REQUESTS[:3], 3)
        assert remote.retries >= 2
        assert remote.search(REQUESTS[:2], 3) == bm25().search(REQUESTS[:2], 3)
        assert server.queue.waiting == 0


def test_a_search_that_times_out_leaves_the_queue() -> None:
    async def run() -> None:
        gated = Gated()
        queue = SearchQueue(gated, QueueLimits(waiting=4))
        running = asyncio.ensure_future(queue.search(REQUESTS[:1], 3, 20))
        while not gated.calls:
            await asyncio.sleep(0.01)
        with pytest.raises(SearchTimeout, match="no answer within"):
            await queue.search(REQUESTS[:4], 3, 0.05)
        assert queue.waiting == 0
        abandoned = asyncio.ensure_future(queue.search(REQUESTS[:4], 3, 20))
        await asyncio.sleep(0.05)
        with pytest.raises(QueueFull):
            await queue.search(REQUESTS[:1], 3, 20)
        abandoned.cancel()
        await asyncio.wait([abandoned])
        assert queue.waiting == 0
        gated.open.set()
        assert await running == bm25().search(REQUESTS[:1], 3)
        await queue.close()
        assert gated.calls == [1]  # what left the queue was never searched
        with pytest.raises(ServerClosing):
            await queue.search(REQUESTS[:1], 3, 1)
        assert queue.counts == {
            "answered": 1, "failed": 0, "refused": 1, "timed_out": 4, "abandoned": 4, "calls": 1,
        }  # fmt: skip

    asyncio.run(run())


def test_a_restart_loses_no_search() -> None:
    gated = Gated()
    with running(gated) as (url, old):
        port = int(url.rsplit(":", 1)[1])
        remote, found = RemoteRetriever(url, timeout_s=60), dict[int, object]()

        def search(number: int) -> None:
            found[number] = remote.search([REQUESTS[number]], 3)

        threads = [threading.Thread(target=search, args=(number,)) for number in range(8)]
        for thread in threads[:4]:
            thread.start()
        wait_until(lambda: sum(gated.calls) + old.queue.waiting == 4)
        with running(bm25(), port=port):
            old.should_exit = True
            wait_until(lambda: old.queue.closing)
            for thread in threads[4:]:
                thread.start()
            for thread in threads[4:]:
                thread.join(30)
            gated.open.set()
            for thread in threads[:4]:
                thread.join(30)
        assert [found[n] for n in range(8)] == [bm25().search([REQUESTS[n]], 3) for n in range(8)]


def test_results_of_other_requests_are_not_used() -> None:
    class Swapped(Gated):
        def search(self, requests: Sequence[tuple[str, str]], k: int) -> list[list[Hit]]:
            return self.inner.search(requests, k)[:-1]

    with running(Swapped()) as (url, _), pytest.raises(ServerUnavailable, match="the search failed"):
        RemoteRetriever(url, timeout_s=2).search(REQUESTS[:1], 3)


def test_a_server_that_is_gone_is_a_timeout() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(SearchTimeout, match="ConnectError"):
        RemoteRetriever(f"http://127.0.0.1:{port}", timeout_s=0.3).search(REQUESTS[:1], 3)


def test_the_command_refuses_other_machines_without_a_token(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RETRIEVAL_TOKEN", raising=False)
    assert main(["cases.jsonl", "--host", "0.0.0.0"]) == 2
    assert "set RETRIEVAL_TOKEN first" in capsys.readouterr().err
    assert main(["/nowhere/cases.jsonl"]) == 2
    assert "cannot be read" in capsys.readouterr().err
