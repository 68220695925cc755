"""Traces over HTTP: messages with a question, and files that the server reads into a case."""

import json
import zipfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import httpx
import pytest
from fake_judge_endpoint import JudgeServer, chat_completion
from paths import REPO
from serving_fixture import LiveServer, service
from trace_judge import ALWAYS_A, QUESTION, answer

from judge_r1.client import Client
from judge_r1.core.case_store import CaseStore
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_judge, served_judge
from judge_r1.serving.middleware.body_limit import Limits
from judge_r1.traces import read_events
from judge_r1.traces.trace import Event

DATA = REPO / "tests" / "judge_r1" / "traces" / "data"
MESSAGES = [{"role": "user", "content": "Fix it. password: hunter2hunter2"}, {"role": "assistant", "content": "Done."}]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    cases, options = CaseStore(), "context=none,retriever=bm25,prompt=search-r1"
    with JudgeServer(answer) as model:
        judge = make_judge(f"agentic:{options}@{model.url}#m", JudgeBuild("", texts=cases))
        with LiveServer(service(judge, cases=cases, limits=Limits(body=200_000, case=100_000))) as server:
            yield server.url


def records() -> list[dict[str, Any]]:
    events: list[Event] = list(read_events(DATA / "calc.eval"))
    return [event.model_dump(exclude={"index"}) for event in events]


def test_messages_and_a_question(url: str) -> None:
    found = httpx.post(f"{url}/v1/judge", json={"messages": records(), "question": QUESTION, "trace": True}).json()
    assert (found["answer"], found["winner"], found["searches"]) == ("no", "B", 6)  # three in each order
    cited = {event["text"] for event in found["events"] if event["cited"]}
    assert "command: python3 test_calc.py" in cited
    assert all(passage["text"].startswith("[event ") for passage in found["evidence"])
    assert len(found["turns"]) == 8


def test_unread_texts_are_allowed_and_counted() -> None:
    body = {"messages": [*MESSAGES, {**MESSAGES[1], "odd": "A text."}], "question": QUESTION, "allow_unread": True}
    with JudgeServer(lambda path, body: chat_completion(ALWAYS_A)) as model:
        judge = make_judge(f"direct@{model.url}#m", JudgeBuild(""))
        with LiveServer(service(judge)) as server:
            assert httpx.post(f"{server.url}/v1/judge", json=body).json()["unread"] == 1


@pytest.mark.parametrize("spec", ["random", "panel(longer|always-a)"])
def test_a_judge_without_a_model_answers_no_question(spec: str) -> None:
    with LiveServer(service(served_judge(spec, JudgeBuild("")))) as server:
        answer = httpx.post(f"{server.url}/v1/judge", json={"messages": MESSAGES, "question": QUESTION})
    assert (answer.status_code, "has no model to answer with" in answer.json()["error"]) == (422, True)


def test_the_client_sends_messages(url: str) -> None:
    with Client(url) as client:
        assert client.judge(messages=records(), question=QUESTION).answer == "no"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"messages": MESSAGES}, "a trace needs both messages and question"),
        ({"question": "a"}, "a trace needs both messages and question"),
        ({"messages": MESSAGES, "question": "a", "context": "b"}, "context belongs to a pair"),
        ({"messages": [{"a": 1}], "question": "a"}, "the trace is no trace of a known format"),
        ({"messages": [{"role": "assistant", "tool_calls": 3}], "question": "a"}, "the trace: event 0 is not valid"),
        ({"messages": [{**MESSAGES[0], "odd": "A text."}], "question": "a"}, "allow_unread=true over HTTP"),
        ({"reasoning_a": "a", "reasoning_b": "b", "allow_unread": True}, "allow_unread belongs to a trace"),
        ({"messages": MESSAGES * 3000, "question": "a"}, "exceeds the limit"),
    ],
)
def test_bad_requests(url: str, body: dict[str, Any], message: str) -> None:
    response = httpx.post(f"{url}/v1/judge", json=body)
    assert response.status_code in (413, 422)
    assert message in response.json()["error"]


@pytest.mark.parametrize("name", ["calc.eval", "verifiers.jsonl", "otlp.json", "console_spans.json"])
def test_a_file_becomes_a_case(url: str, name: str) -> None:
    found = httpx.post(f"{url}/v1/traces", content=(DATA / name).read_bytes(), timeout=120).json()
    assert found["context"].startswith("[trace 1]\n[event 0: ")
    pair = {"context": found["context"], "decision": f"{QUESTION}\n\n{found['about']}"}
    judged = httpx.post(f"{url}/v1/judge", json={**pair, "reasoning_a": "Yes.", "reasoning_b": "No."}).json()
    assert judged["winner"] == "B"
    assert any("python3 test_calc.py" in passage["text"] for passage in judged["evidence"])


def test_secrets_of_a_file_are_masked_on_request(url: str) -> None:
    sent = json.dumps(MESSAGES).encode()
    assert "hunter2" in httpx.post(f"{url}/v1/traces", content=sent).json()["context"]
    found = httpx.post(f"{url}/v1/traces?mask=true", content=sent).json()
    assert "hunter2" not in found["context"]
    assert found["masked"] == 1


def archive(size: int) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", b" " * size)
    return data.getvalue()


@pytest.mark.parametrize(
    ("sent", "status", "message"),
    [
        (b"", 422, "the file is empty"),
        (b"hello", 422, "the file is not valid JSON"),
        (b'{"a": 1}', 422, "the file is no trace of a known format: it holds JSON with a"),
        (archive(10_000_000), 422, "has over 3200000 bytes unpacked"),
        (json.dumps([{"role": "user", "content": "x " * 60_000}]).encode(), 413, "as text: the limit is 100000"),
        (b"x" * 200_001, 413, "exceeds the limit"),
    ],
)
def test_bad_files(url: str, sent: bytes, status: int, message: str) -> None:
    response = httpx.post(f"{url}/v1/traces", content=sent)
    assert response.status_code == status
    assert message in response.json()["error"]
    assert httpx.post(f"{url}/v1/traces?number=2", content=json.dumps(MESSAGES)).status_code == 422
