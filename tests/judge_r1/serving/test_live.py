"""The HTTP API on a real socket: body limits, disconnecting clients and event streams."""

import json
import socket
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving_fixture import PAIR, BlockedJudge, LiveServer, service, wait_for

from judge_r1.core.case_store import CaseStore
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import served_judge
from judge_r1.judges.runners import TokenJudge
from judge_r1.serving import sse
from judge_r1.serving.middleware.body_limit import Limits


def raw(server: LiveServer, head: str, *pieces: bytes) -> bytes:
    """Sends a request piece by piece and returns the first bytes of the response."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(f"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n".encode())
        for piece in pieces:
            connection.sendall(piece)
        return connection.recv(65536)


def test_a_body_that_is_too_large_is_rejected_before_it_is_sent() -> None:
    with LiveServer(service("longer", limits=Limits(body=1000))) as server:
        response = raw(server, "Content-Type: application/json\r\nContent-Length: 5000000000")
        assert response.startswith(b"HTTP/1.1 413")
        chunk = b"200\r\n" + b" " * 512 + b"\r\n"
        response = raw(server, "Content-Type: application/json\r\nTransfer-Encoding: chunked", chunk, chunk)
        assert response.startswith(b"HTTP/1.1 413")
        assert httpx.post(f"{server.url}/v1/judge", json=PAIR, timeout=20).status_code == 200


def test_the_total_size_of_bodies_is_bounded() -> None:
    with LiveServer(service("longer", limits=Limits(body=1000, bodies=1500))) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
            slow.sendall(b"POST /v1/judge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 990\r\n\r\n" + b" " * 900)
            body = {"reasoning_a": "x" * 400, "reasoning_b": "y" * 400}

            def status() -> int:
                return httpx.post(f"{server.url}/v1/judge", json=body, timeout=20).status_code

            wait_for(lambda: status() == 503)
        wait_for(lambda: status() == 200)


def test_routes_without_a_key_read_no_body() -> None:
    served = service("longer", limits=Limits(body=1000, bodies=1500))
    with LiveServer(served) as server, socket.create_connection(("127.0.0.1", server.port), timeout=20) as slow:
        slow.sendall(b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 990\r\n\r\n" + b" " * 900)
        assert slow.recv(65536).startswith(b"HTTP/1.1 405")


@pytest.mark.parametrize(
    "path", ["/v1/judge", "/v1/judge/stream", "/v1/judge/batch", "/v1/score", "/v1/chat/completions"]
)
def test_a_disconnect_cancels_the_judgment(path: str) -> None:
    blocked = BlockedJudge()
    body: Any = PAIR
    if path.endswith("batch"):
        body = {"requests": [PAIR] * 3}
    elif path.endswith("score"):
        body = {"prompt": "p", "candidates": ["a", "b"]}
    elif path.endswith("completions"):
        body = {"model": "judge-r1", "messages": [{"role": "user", "content": "judge"}], "judge": PAIR}
    served = service(blocked, max_concurrency=2)
    with LiveServer(served) as server:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{server.url}{path}", json=body, timeout=httpx.Timeout(20, read=0.3))
        wait_for(lambda: blocked.cancelled > 0 and blocked.running == 0)
        wait_for(lambda: served.queue.running == served.queue.waiting == 0)
        blocked.release.set()
        before = blocked.started
        assert httpx.post(f"{server.url}/v1/judge", json=PAIR, timeout=20).status_code == 200
        assert blocked.started == before + 1
        metrics = httpx.get(f"{server.url}/metrics", timeout=20).text
        assert 'judge_r1_judgments_total{outcome="client_left"}' in metrics


@pytest.fixture(scope="module")
def engine_judge(model_folder: Path) -> TokenJudge:
    """A judge with random weights, whose episodes last until their budget, a second or more."""
    options = "context=none,search=false,prompt=compact,retriever=bm25,budget.response_tokens=600"
    judge = served_judge(f"agentic:{options}@{model_folder}", JudgeBuild("", texts=CaseStore(), batch_size=2))
    assert isinstance(judge, TokenJudge)
    return judge


def test_a_disconnect_from_a_stream_frees_the_batch_row(engine_judge: TokenJudge) -> None:
    batch = engine_judge._model.model.batch
    served = service(engine_judge, max_concurrency=2)
    with LiveServer(served) as server:
        with httpx.Client(timeout=20) as client, pytest.raises(httpx.ReadTimeout):
            client.post(f"{server.url}/v1/judge/stream", json=PAIR, timeout=httpx.Timeout(20, read=0.2))
        wait_for(lambda: served.queue.running == 0)
        wait_for(lambda: not batch.busy)
        assert b'judge_r1_judgments_total{outcome="client_left"} 1.0' in served.metrics.text()
        judgment = httpx.post(f"{server.url}/v1/judge", json=PAIR, timeout=60).json()
        assert not judgment["valid"]


def read_events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_a_stream_has_an_event_per_turn() -> None:
    """The judge searches once over a chat endpoint and answers."""
    from fake_judge import searching
    from fake_judge_endpoint import JudgeServer

    from judge_r1.judges.panel import make_judge

    cases = CaseStore()
    options = "context=none,prompt=compact,retriever=bm25,budget.top_k=1,budget.passage_words=3"
    with JudgeServer(searching) as endpoint:
        judge = make_judge(f"agentic:{options}@{endpoint.url}#toy", JudgeBuild("", texts=cases))
        with LiveServer(service(judge, cases=cases)) as server:
            body = PAIR | {"context": "ana paid 34. ben paid nothing.", "trace": True}
            answer = httpx.post(f"{server.url}/v1/judge/stream", json=body, timeout=60)
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = read_events(answer.text)
    names = [name for name, _ in found]
    assert names[-1] == "verdict"
    assert names.count("search") == 1 == names.index("turn") - names.index("search")
    verdict = found[-1][1]
    assert [data for name, data in found if name == "turn"] == verdict["turns"]
    assert [data["query"] for name, data in found if name == "search"] == [verdict["turns"][0]["query"]]
    for passage in verdict["evidence"]:
        assert passage["text"] == body["context"][passage["start"] : passage["end"]]


def test_a_stream_sends_heartbeats_and_late_errors_as_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.05)
    with LiveServer(service(BlockedJudge(), timeout=0.4)) as server:
        answer = httpx.post(f"{server.url}/v1/judge/stream", json=PAIR, timeout=20)
    assert answer.text.count(": still running") >= 2
    assert read_events(answer.text) == [("error", {"error": "no judgment within 0.4 s"})]


def test_an_early_error_of_a_stream_has_a_status() -> None:
    with LiveServer(service(BlockedJudge(), timeout=0.2)) as server:
        started = time.monotonic()
        answer = httpx.post(f"{server.url}/v1/judge/stream", json=PAIR, timeout=20)
    assert (answer.status_code, answer.json()) == (504, {"error": "no judgment within 0.2 s"})
    assert time.monotonic() - started < 10
