"""Endpoints that cannot be reached, and replies in other forms, over real sockets."""

import asyncio
import itertools
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from fake_judge_endpoint import JudgeServer, chat_completion, error_response
from fake_llm_server import FakeLLMServer, Faults
from pydantic import SecretStr
from serving_fixture import PAIR, BlockedJudge, LiveServer, service
from two_nodes import free_port

from judge_r1.core.endpoint import EndpointError, RetriesExhausted, RetryPolicy
from judge_r1.models.base import GenerateRequest, Generation
from judge_r1.models.http_client import Client
from judge_r1.models.open_model import OpenAIEndpoint
from judge_r1.models.openai_chat import ChatModel

PATIENT = RetryPolicy(concurrency=4, request_s=180, total_s=900, attempts=8)
FAST = RetryPolicy(concurrency=4, request_s=5, total_s=20, attempts=8, backoff_s=0.01)


def generate(url: str, count: int = 1, policy: RetryPolicy = FAST) -> list[Generation]:
    async def work() -> list[Generation]:
        model = ChatModel(OpenAIEndpoint(url, "toy", "NO_KEY"), None, policy)
        requests = [GenerateRequest(5, messages=[{"role": "user", "content": str(n)}]) for n in range(count)]
        try:
            return [found for request in requests for found in await model.generate([request])]
        finally:
            await model.aclose()

    return asyncio.run(asyncio.wait_for(work(), 60))


@pytest.mark.parametrize("kind", ["a closed port", "an unknown host", "no TLS"])
def test_an_endpoint_that_cannot_be_reached_stops_in_seconds(kind: str) -> None:
    """With the patience of an evaluation, which repeats other errors for minutes."""
    started = time.monotonic()
    with JudgeServer(lambda path, body: chat_completion("x")) as server:
        url = {
            "a closed port": f"http://127.0.0.1:{free_port()}/v1",
            "an unknown host": "http://no-such-host.invalid/v1",
            "no TLS": server.url.replace("http:", "https:"),
        }[kind]
        with pytest.raises(
            EndpointError, match=r"cannot be reached \(Connect.*\): start the server, or correct the URL"
        ):
            generate(url, policy=PATIENT)
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_server_that_has_answered_and_is_gone_is_waited_for_until_the_deadline(comes_back: bool) -> None:
    """Only one that was never reached is an error of every request. Loading a model takes longer than all attempts."""
    body, limits = (
        json.dumps(chat_completion("x")[1]).encode(),
        replace(FAST, attempts=1, total_s=8 if comes_back else 1),
    )

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    async def work() -> list[Generation]:
        server = await asyncio.start_server(reply, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        endpoint, request = (
            OpenAIEndpoint(f"http://127.0.0.1:{port}/v1", "toy", "NO_KEY"),
            GenerateRequest(5, messages=[]),
        )
        model = ChatModel(endpoint, None, limits)
        try:
            one = await model.generate([request])
            server.close()
            again = asyncio.ensure_future(model.generate([request]))
            await asyncio.sleep(0.3)
            if comes_back:
                await asyncio.start_server(reply, "127.0.0.1", port)
            return [*one, *await again]
        finally:
            await model.aclose()

    one, again = asyncio.run(asyncio.wait_for(work(), 60))
    assert (one.text, one.failure) == ("x", None)
    if comes_back:
        assert (again.text, again.failure) == ("x", None)
    else:
        assert again.failure == "no_answer"
        assert "no valid response within 1 s; the last error: ConnectError" in again.error


def test_a_503_of_a_server_that_has_answered_is_no_attempt() -> None:
    replies = iter([chat_completion("x"), *[LOADING] * 6, chat_completion("y")])
    with JudgeServer(lambda path, body: next(replies)) as server:
        found = generate(server.url, 2, replace(FAST, attempts=1))
    assert [one.text for one in found] == ["x", "y"]


ODD: dict[str, tuple[Any, str]] = {
    "no choices": ({"choices": [], "id": "odd-1"}, '"id": "odd-1"'),
    "choices that are null": ({"choices": None, "id": "odd-2"}, '"id": "odd-2"'),
    "another API": ({"response": "Hello", "done": True}, '"response": "Hello"'),
    "content that is a number": ({"choices": [{"message": {"content": 7}, "finish_reason": "stop"}]}, '"content": 7'),
    "an unknown part": (
        {"choices": [{"message": {"content": [{"type": "image_url", "image_url": "u"}]}, "finish_reason": "stop"}]},
        "image_url",
    ),
    "no content": ({"choices": [{"message": {"role": "assistant"}, "finish_reason": "stop"}]}, '"role": "assistant"'),
}


@pytest.mark.parametrize("name", ODD)
def test_a_reply_in_another_form_is_quoted_and_not_repeated_to_the_deadline(name: str) -> None:
    reply, quoted = ODD[name]
    with JudgeServer(lambda path, body: (200, reply)) as server:
        [found] = generate(server.url)
        assert len(server.bodies) == 4
    assert found.failure == "malformed_reply"
    assert quoted in found.error


def test_refusals_of_a_busy_server_do_not_count_as_replies_in_another_form() -> None:
    good = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}
    replies = iter([*[(503, {"error": "busy"})] * 3, (200, {"choices": []}), (200, good)])
    with JudgeServer(lambda path, body: next(replies)) as server:
        [found] = generate(server.url)
        assert len(server.bodies) == 5
    assert (found.text, found.failure) == ("x", None)


def test_pages_before_a_reply_in_another_form_do_not_make_it_the_answer_of_the_server() -> None:
    replies = iter([*[(200, b"<html>busy</html>")] * 3, (200, {"choices": []})])
    with JudgeServer(lambda path, body: next(replies)) as server:
        [found] = generate(server.url)
        assert len(server.bodies) == 4
    assert found.failure == "no_answer"


def test_a_page_in_place_of_json_is_quoted_and_asked_for_again_by_a_later_run() -> None:
    with FakeLLMServer(lambda *_: "", faults=Faults(rate=1.0, kinds=("garbage",), in_a_row=99)) as server:
        [found] = generate(f"{server.url}/v1")
        assert server.calls.total() == 4
    assert found.failure == "no_answer"
    assert "a reply that is not JSON" in found.error
    assert "<html>upstream hiccup</html>" in found.error


def test_of_a_long_reply_in_another_form_the_beginning_is_quoted() -> None:
    with JudgeServer(lambda path, body: (200, {"answer": "x" * 1000})) as server:
        [found] = generate(server.url)
    assert found.error.endswith(f'{{"answer": "{"x" * 288}… (714 more characters)')


def test_white_space_of_a_reply_takes_no_room_of_its_quote() -> None:
    with JudgeServer(lambda path, body: (200, {"answer": " " * 1000 + "x"})) as server:
        [found] = generate(server.url)
    assert found.error.endswith('{"answer": " x"}')


OVERFLOW = "context_overflow"


@pytest.mark.parametrize(
    ("status", "reply", "failure", "finish", "calls"),
    [
        (200, {"error": {"code": 400, "message": "odd model", "type": "x"}}, "refused", "stop", 1),
        (200, {"error": "Input validation error: `inputs` must have less than 9 tokens"}, None, OVERFLOW, 1),
        (200, {"error": {"code": 500, "type": "exceed_context_size_error", "message": "m"}}, None, OVERFLOW, 1),
        (200, {"error": {"code": 502, "message": "Provider returned error"}}, "no_answer", "stop", 8),
        (200, {"choices": [], "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, None, "content_filter", 1),
        (200, {"promptFeedback": {"blockReason": "SAFETY"}}, None, "content_filter", 1),
        (200, {"choices": [{"message": {}, "finish_reason": "content_filter: SPII"}]}, None, "content_filter", 1),
        (200, {"choices": [{"message": {"content": None}, "finish_reason": "SAFETY"}]}, None, "content_filter", 1),
        (200, {"choices": [{"message": {"role": "assistant"}, "finish_reason": "length"}]}, None, "length", 1),
        (500, {"error": {"code": 500, "message": "m", "type": "exceed_context_size_error"}}, None, OVERFLOW, 1),
        (400, {"error": {"code": "data_inspection_failed", "message": "m"}}, None, "content_filter", 1),
        (403, {"error": {"code": 403, "message": "m", "metadata": {"flagged_input": "y"}}}, None, "content_filter", 1),
        (413, {"error": {"message": "too big"}}, None, OVERFLOW, 1),
    ],
)  # fmt: skip
def test_final_errors_and_filters_end_at_the_first_attempt(
    status: int, reply: Any, failure: str | None, finish: str, calls: int
) -> None:
    with JudgeServer(lambda path, body: (status, reply)) as server:
        [found] = generate(server.url)
        assert len(server.bodies) == calls
    assert (found.failure, found.finish_reason) == (failure, finish)
    if failure:
        message = reply["error"]["message"]
        assert message in found.error


PARTS: dict[str, tuple[Any, tuple[str, str, str]]] = {
    "texts": ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], ("ab", "", "stop")),
    "Mistral's thoughts": (
        [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}],
        ("a", "hm", "stop"),
    ),
    "thoughts as a text": (
        [{"type": "thinking", "thinking": "hm"}, {"type": "output_text", "text": "a"}],
        ("a", "hm", "stop"),
    ),
    "a refusal": ([{"type": "refusal", "refusal": "no"}], ("no", "", "refusal")),
    "none": ([], ("", "", "stop")),
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_the_parts_of_a_message_are_one_text(name: str) -> None:
    content, expected = PARTS[name]
    reply = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    with JudgeServer(lambda path, body: (200, reply)) as server:
        [found] = generate(server.url)
    assert (found.text, found.reasoning, found.finish_reason) == expected


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ([{"error": {"code": 400, "message": "m", "details": [{"reason": "API_KEY_INVALID"}]}}], "NO_KEY"),
        ({"error": {"code": "Arrearage", "message": "Access denied."}}, r"no credit is left \(Access denied"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_an_empty_account_behind_status_400_stops_the_judge(error: Any, says: str) -> None:
    with JudgeServer(lambda path, body: (400, error)) as server, pytest.raises(EndpointError, match=says):
        generate(server.url)


@pytest.mark.parametrize(("refusals", "failure"), [(1, None), (2, "refused")])
def test_a_server_that_answers_others_is_asked_again_about_a_refused_request(
    refusals: int, failure: str | None
) -> None:
    asked: list[str] = []

    def answer(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        asked.append(body["messages"][0]["content"])
        return error_response(422, "no") if asked[-1] == "1" and asked.count("1") <= refusals else chat_completion("x")

    with JudgeServer(answer) as server:
        found = generate(server.url, 3)
    assert [one.failure for one in found] == [None, failure, None]
    assert asked == ["0", "1", "1", "2"]


def test_a_reply_that_forbids_a_retry_is_not_repeated() -> None:
    """As a served judge answers after its deadline."""
    blocked = BlockedJudge()

    async def work(url: str) -> Any:
        client = Client(OpenAIEndpoint(f"{url}/v1", "judge-r1", "NO_KEY"), None, FAST)
        messages = [{"role": "user", "content": "judge"}]
        try:
            return await client.post({"model": "judge-r1", "messages": messages, "judge": PAIR}, dict)
        finally:
            await client.aclose()

    with LiveServer(service(blocked, timeout=0.2)) as server:
        with pytest.raises(RetriesExhausted, match=r"asks for no retry \(status 504: no judgment within 0.2 s"):
            asyncio.run(work(server.url))
        assert blocked.started == 1


LOADING, BUSY = error_response(503, "the model is loading"), (200, b"<html>busy</html>")


@pytest.mark.parametrize(
    ("replies", "warning"),
    [
        ([LOADING], "(up to 8 attempts, for at most 20 s): status 503: the model is loading"),
        ([BUSY], "(up to 4 attempts, for at most 20 s): a reply that is not JSON"),
        ([BUSY, LOADING], "(up to 8 attempts, for at most 20 s): a reply that is not JSON"),
    ],
)
def test_a_long_wait_is_announced(replies: list[Any], warning: str, caplog: pytest.LogCaptureFixture) -> None:
    answers = itertools.cycle(replies)
    with JudgeServer(lambda path, body: next(answers)) as server:
        generate(server.url, 2)
    warnings = [record.getMessage() for record in caplog.records if "is repeated" in record.getMessage()]
    assert len(warnings) == 1
    assert warning in warnings[0]


def test_a_placeholder_for_a_key_is_not_masked_in_words() -> None:
    async def work(url: str) -> Generation:
        model = ChatModel(OpenAIEndpoint(url, "toy", "NO_KEY"), SecretStr("e"), FAST)
        try:
            return (await model.generate([GenerateRequest(5, messages=[])]))[0]
        finally:
            await model.aclose()

    with JudgeServer(lambda path, body: error_response(422, "the seed e is odd")) as server:
        assert "status 422: the seed *** is odd" in asyncio.run(work(server.url)).error


def test_an_echoed_key_is_not_quoted() -> None:
    key = "sk-secret-0123456789"

    async def work(url: str) -> Generation:
        model = ChatModel(OpenAIEndpoint(url, "toy", "NO_KEY"), SecretStr(key), FAST)
        try:
            [found] = await model.generate([GenerateRequest(5, messages=[])])
            return found
        finally:
            await model.aclose()

    for reply in ({"choices": [], key: 1}, {"error": {"message": f"{key} is odd"}}, {"choices": {key: []}}):
        with JudgeServer(lambda path, body, reply=reply: (200, reply)) as server:  # type: ignore[misc]
            found = asyncio.run(work(server.url))
        assert found.failure
        assert key not in found.error
        assert "***" in found.error
