"""The judge behind OpenAI's chat API, over ASGI."""

import asyncio
import json
from typing import Any

import httpx
import pytest
from chat_calls import call, user
from serving_fixture import PAIR, InvalidJudge, service

from judge_r1.serving.app import create_app

PROMPT = (
    "[User Question]\nq\n[The Start of Assistant A's Answer]\none\n[The End of Assistant A's Answer]\n"
    "[The Start of Assistant B's Answer]\none two\n[The End of Assistant B's Answer]"
)
INSTRUCTIONS = {"role": "system", "content": "End with [[A]] or [[B]]."}


def test_a_judge_object_returns_the_full_judgment() -> None:
    answer = call({"messages": [user("judge")], "judge": PAIR, "temperature": 0.3, "max_tokens": 5})
    assert answer.status_code == 200
    found = answer.json()
    [choice] = found["choices"]
    assert (found["object"], choice["finish_reason"]) == ("chat.completion", "stop")
    assert json.loads(choice["message"]["content"])["winner"] == "A"
    assert found["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([INSTRUCTIONS, user(PROMPT)], "The answer of assistant B is better.\n\n[[B]]"),
        ([user(PROMPT)], "B"),
        ([user([{"type": "text", "text": PROMPT}])], "B"),
    ],
)
def test_a_pairwise_prompt_is_answered_in_its_format(messages: list[Any], says: str) -> None:
    assert call({"messages": messages}).json()["choices"][0]["message"]["content"] == says


def test_a_json_prompt_is_answered_with_json() -> None:
    content = call({"messages": [user('{"A": "one two", "B": "one"}')]}).json()["choices"][0]["message"]["content"]
    assert json.loads(content)["winner"] == "A"


def test_an_invalid_answer_names_its_reason() -> None:
    answer = call({"messages": [INSTRUCTIONS, user(PROMPT)]}, service(InvalidJudge("no_answer")))
    assert answer.json()["choices"][0]["message"]["content"] == "no valid answer (no_answer)"


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"messages": [user("hello")]}, 400, "[The Start of Assistant A's Answer]"),
        ({"messages": [user(PROMPT), {"role": "assistant", "content": "A"}, user(PROMPT)]}, 400, "one user message"),
        ({"messages": [user([{"type": "image_url"}])]}, 400, "something other than text"),
        ({"messages": [user("judge")], "judge": {"reasoning_a": "x"}}, 400, "reasoning_b"),
        ({"messages": [user(PROMPT)], "n": 2}, 400, "n is not supported"),
        ({"messages": [user(PROMPT)], "tools": [{}]}, 400, "tools is not supported"),
        ({"messages": []}, 400, "messages"),
        ({"messages": [user(PROMPT)], "model": "gpt"}, 404, "there is no model 'gpt'"),
        ({"messages": [user("judge")], "judge": PAIR | {"case_id": "x"}}, 404, "there is no case x"),
    ],
)
def test_other_requests_are_rejected_in_openais_error_format(body: dict[str, Any], status: int, says: str) -> None:
    answer = call(body)
    assert answer.status_code == status
    assert says in answer.json()["error"]["message"]
    assert answer.json()["error"]["type"] in ("invalid_request_error", "not_found_error")


def test_a_stream_has_chunks_usage_and_an_end() -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    answer = call({"messages": [INSTRUCTIONS, user(PROMPT)]} | options)
    assert answer.headers["content-type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in answer.text.split("\n\n") if line]
    assert lines[-1] == "[DONE]"
    *chunks, usage = [json.loads(line) for line in lines[:-1]]
    assert "".join(c["choices"][0]["delta"].get("content", "") for c in chunks).endswith("better.\n\n[[B]]")
    assert [c["choices"][0]["finish_reason"] for c in chunks] == [None] * (len(chunks) - 1) + ["stop"]
    assert (usage["choices"], usage["usage"]["total_tokens"]) == ([], 0)
    assert len({c["id"] for c in [*chunks, usage]}) == 1


def test_an_error_before_a_stream_has_a_status() -> None:
    answer = call(
        {"messages": [INSTRUCTIONS, user(PROMPT)], "stream": True}, service(InvalidJudge("infrastructure_no_answer"))
    )
    assert (answer.status_code, answer.json()["error"]["type"]) == (502, "server_error")


def test_models_are_listed() -> None:
    async def talk() -> list[Any]:
        transport = httpx.ASGITransport(create_app(service("longer")))
        async with httpx.AsyncClient(transport=transport, base_url="http://judge") as client:
            return [(await client.get(f"/v1/models{name}")).json() for name in ("", "/longer", "/gpt")]

    listed, named, unknown = asyncio.run(talk())
    assert [entry["id"] for entry in listed["data"]] == ["longer", "judge-r1"]
    assert named["id"] == "longer"
    assert "gpt" in unknown["error"]["message"]
