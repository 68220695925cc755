"""Anthropic's messages, items of OpenAI's Responses API, and spans of older GenAI conventions."""

import json
from pathlib import Path
from typing import Any

import pytest

from judge_r1.traces import format_of, read_events
from judge_r1.traces.base import BadTrace, TraceFile
from judge_r1.traces.trace import Event

STORY = [
    ("message", "user", "Fix it."), ("thought", "assistant", "First the tests."),
    ("message", "assistant", "I run them."), ("call", "bash", "cmd: pytest -q"),
    ("result", "bash", "1 failed"), ("message", "assistant", "Done."),
]  # fmt: skip
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "Fix it."},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "First the tests.", "signature": "s"}, {"type": "text", "text": "I run them."},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"cmd": "pytest -q"}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t1", "is_error": True,
         "content": [{"type": "text", "text": "1 failed"}]}]},
    {"role": "assistant", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"},
]  # fmt: skip
RESPONSES: list[dict[str, Any]] = [
    {"role": "user", "content": "Fix it."},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "First the tests."}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I run them."}]},
    {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": '{"cmd": "pytest -q"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "1 failed"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
]  # fmt: skip


def read(folder: Path, value: Any, name: str) -> list[Event]:
    path = folder / "trace.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    assert format_of(TraceFile(path)) == name
    return list(read_events(path))


def story(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(event.kind, event.name, event.text) for event in events]


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("value", [ANTHROPIC, {"messages": ANTHROPIC, "model": "m"}, lines(ANTHROPIC)])
def test_anthropic_messages(tmp_path: Path, value: Any) -> None:
    events = read(tmp_path, value, "anthropic-messages")
    assert story(events) == STORY
    assert events[4].error
    assert events[1].meta["signature"] == "s"
    assert events[5].meta == {"stop_reason": "end_turn"}


def test_the_system_prompt_of_an_anthropic_request_comes_first(tmp_path: Path) -> None:
    events = read(
        tmp_path, {"messages": ANTHROPIC, "system": [{"type": "text", "text": "Be exact."}]}, "anthropic-messages"
    )
    assert story(events) == [("message", "system", "Be exact."), *STORY]


@pytest.mark.parametrize("value", [RESPONSES, {"object": "response", "output": RESPONSES}, lines(RESPONSES)])
def test_items_of_the_responses_api(tmp_path: Path, value: Any) -> None:
    assert story(read(tmp_path, value, "openai-responses")) == STORY


def test_a_response_with_its_input(tmp_path: Path) -> None:
    value = {"instructions": "Be exact.", "input": "Fix it.", "output": RESPONSES[1:], "usage": {"total_tokens": 9}}
    events = read(tmp_path, value, "openai-responses")
    assert story(events) == [("message", "system", "Be exact."), *STORY]
    assert events[0].meta["trace"] == {"usage": {"total_tokens": 9}}


def test_tools_that_the_server_runs(tmp_path: Path) -> None:
    calls = [
        {"type": "web_search_call", "id": "w1", "action": {"type": "search", "query": "pytest"}, "status": "completed"},
        {
            "type": "mcp_call", "id": "m1", "name": "fetch", "arguments": '{"url": "u"}', "output": "page",
            "server_label": "s",
        },
        {"type": "compaction", "id": "x", "encrypted_content": "abc"},
    ]  # fmt: skip
    assert story(read(tmp_path, calls, "openai-responses")) == [
        ("call", "web_search", "type: search\nquery: pytest"), ("call", "fetch", "url: u"), ("result", "fetch", "page"),
        ("message", "compaction", '{"id": "x", "encrypted_content": "abc"}'),
    ]  # fmt: skip


def otlp(*spans: dict[str, Any]) -> str:
    return lines([{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in spans])


def span(start: int, attributes: dict[str, Any], trace: str = "a1", **more: Any) -> dict[str, Any]:
    own = [{"key": key, "value": {"stringValue": str(value)}} for key, value in attributes.items()]
    return {
        "traceId": trace,
        "spanId": f"{start:016x}",
        "name": "chat",
        "startTimeUnixNano": str(start),
        "attributes": own,
        **more,
    }


def test_flat_attributes_of_prompts(tmp_path: Path) -> None:
    first = {"gen_ai.system": "openai", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Fix it.",
             "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.tool_calls.0.id": "c1",
             "gen_ai.completion.0.tool_calls.0.name": "bash",
             "gen_ai.completion.0.tool_calls.0.arguments": '{"cmd": "pytest -q"}'}  # fmt: skip
    again = {key.replace("completion.0", "prompt.1"): value for key, value in first.items()}
    second = {**again, "gen_ai.prompt.2.role": "tool", "gen_ai.prompt.2.tool_call_id": "c1",
              "gen_ai.prompt.2.content": "1 failed", "gen_ai.completion.0.role": "assistant",
              "gen_ai.completion.0.content": "Done."}  # fmt: skip
    events = read(
        tmp_path,
        otlp(span(2_000_000_000, second), span(1_000_000_000, first), span(3, {"http.method": "GET"})),
        "opentelemetry",
    )
    assert story(events) == [STORY[0], *STORY[3:]]
    assert events[0].meta["trace"] == {"trace_id": "a1", "other_spans": 1}


def test_messages_in_events_of_a_span(tmp_path: Path) -> None:
    said = [("gen_ai.user.message", {"content": "Fix it."}), ("gen_ai.choice", {"message": '{"content": "Done."}'})]
    events = [
        {"name": name, "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in own.items()]}
        for name, own in said
    ]
    found = read(tmp_path, otlp(span(1, {"gen_ai.system": "openai"}, events=events)), "opentelemetry")
    assert story(found) == [STORY[0], STORY[5]]


def test_an_equal_message_that_is_said_twice_stays(tmp_path: Path) -> None:
    def said(*texts: str) -> dict[str, Any]:
        return {
            "gen_ai.input.messages": json.dumps(
                [{"role": "user", "parts": [{"type": "text", "content": text}]} for text in texts]
            )
        }

    found = read(tmp_path, otlp(span(1, said("go on")), span(2, said("go on", "go on"))), "opentelemetry")
    assert [event.text for event in found] == ["go on", "go on"]


def test_one_of_several_otel_traces_is_chosen(tmp_path: Path) -> None:
    said = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Fix it."}
    path = tmp_path / "spans.jsonl"
    path.write_text(otlp(span(1, said), span(2, said, trace="b2")))
    with pytest.raises(BadTrace, match="holds 2 traces"):
        list(read_events(path))
    assert next(read_events(path, number=2)).meta["trace"] == {"trace_id": "b2"}
