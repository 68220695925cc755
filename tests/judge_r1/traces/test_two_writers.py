"""Spans of several writers and several processes in one file: each call once, in the order of the run.

The forms are those of langsmith 0.15.1, opentelemetry-instrumentation-langchain 0.62.4, openinference-instrumentation
0.1.72 and logfire 5.4.0 (`test_trace_writers.py` runs them).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from judge_r1.traces import BadTrace, Unread, read_events
from judge_r1.traces.otel_spans import nanoseconds

USER = [{"role": "user", "parts": [{"type": "text", "content": "What is 1 + 2?"}]}]
ANSWER = [{"role": "assistant", "parts": [{"type": "text", "content": "It is 3."}]}]
CALL = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": USER, "gen_ai.output.messages": ANSWER}
LANGSMITH = {
    "gen_ai.operation.name": "chat", "langsmith.span.kind": "llm",
    "gen_ai.prompt": {"messages": [[{"type": "human", "content": "What is 1 + 2?"}]]},
    "gen_ai.completion": {"generations": [[{"message": {"type": "ai", "content": "It is 3."}}]]},
}  # fmt: skip
OPENINFERENCE = {
    "openinference.span.kind": "LLM", "llm.provider": "scripted", "llm.invocation_parameters": {"_type": "scripted"},
    "input.mime_type": "application/json", "input.value": {"messages": ["What is 1 + 2?"]}, "output.value": "It is 3.",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.contents.0.message_content.type": "text",
    "llm.input_messages.0.message.contents.0.message_content.text": "What is 1 + 2?",
    "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "It is 3.",
}  # fmt: skip
BOTH = ["What is 1 + 2?", "It is 3."]
ROOT = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "adder"}


def span(name: str, attributes: Mapping[str, Any], start: float, end: float, parent: str | None = None) -> str:
    """A span as the console exporter prints it; the times are seconds of one minute."""
    own = {key: json.dumps(value) if isinstance(value, dict | list) else value for key, value in attributes.items()}
    times = {key: f"2026-01-01T00:00:{value:09.6f}Z" for key, value in (("start_time", start), ("end_time", end))}
    context = {"trace_id": "t", "span_id": name}
    return json.dumps({"name": name, "context": context, "parent_id": parent, "attributes": own, **times})


def read(path: Path, *spans: str) -> tuple[list[str], list[str]]:
    """The texts of the events, and the notes."""
    path.write_text("\n".join(spans))
    unread = Unread()
    return [event.text for event in read_events(path, unread=unread)], unread.notes


@pytest.mark.parametrize("second", [LANGSMITH, OPENINFERENCE])
def test_a_call_that_two_writers_trace_is_read_once(tmp_path: Path, second: dict[str, Any]) -> None:
    first = CALL | {"traceloop.entity.path": "model"}
    assert read(tmp_path / "s", span("a", first, 1, 2), span("b", second, 1.01, 2.01)) == (BOTH, [])


def test_a_call_that_three_writers_trace_is_read_once(tmp_path: Path) -> None:
    spans = [span("a", CALL | {"traceloop.entity.path": "model"}, 1, 2), span("b", LANGSMITH, 1.01, 2.01)]
    assert read(tmp_path / "s", *spans, span("c", OPENINFERENCE, 1.02, 2.02)) == (BOTH, [])


def test_equal_answers_of_one_writer_and_of_calls_one_after_the_other_are_read_each(tmp_path: Path) -> None:
    again = [*BOTH, "It is 3."]
    assert read(tmp_path / "s", span("a", CALL, 1, 2), span("b", CALL, 1.5, 2.5))[0] == again
    assert read(tmp_path / "s", span("a", CALL, 1, 2), span("b", LANGSMITH, 3, 4))[0] == again
    two = [span("a", CALL, 1, 2), span("b", CALL, 1.1, 2.1), span("c", LANGSMITH, 1, 2), span("d", LANGSMITH, 1.1, 2.1)]
    assert read(tmp_path / "s", *two)[0] == again


def test_openinference_alone(tmp_path: Path) -> None:
    asks = OPENINFERENCE | {
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "add",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
    }
    tool = {"openinference.span.kind": "TOOL", "tool.name": "add", "tool.description": "Adds two numbers.",
            "input.value": {"a": 1},
            "output.value": {"type": "tool", "data": {"content": "3", "tool_call_id": "c"}}}  # fmt: skip
    chain = {"openinference.span.kind": "CHAIN", "input.value": "What is 1 + 2?"}
    spans = [span("r", chain, 0, 9), span("a", asks, 1, 2, "r"), span("b", tool, 3, 4, "r")]
    assert read(tmp_path / "s", *spans) == ([*BOTH, "a: 1", "3"], [])
    hidden = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
    with pytest.raises(BadTrace, match="set OPENINFERENCE_HIDE_INPUTS=false"):
        read(tmp_path / "s", span("a", hidden, 1, 2))
    with pytest.raises(BadTrace, match=r"no event would show the text under the key 'input\.value'"):
        read(tmp_path / "s", span("a", OPENINFERENCE | {"input.value": "Another question?"}, 1, 2))


def test_openinference_writes_a_call_of_anthropic_twice() -> None:
    path = Path(__file__).parent / "data" / "openinference_anthropic_3.1.0.json"
    assert [(event.kind, event.name, event.text) for event in read_events(path)] == [
        ("message", "system", "Be brief."), ("message", "user", "Pay my rent."),
        ("thought", "assistant", "I weigh it."),
        ("message", "assistant", "I pay."), ("call", "pay", "amount: 900"), ("result", "pay", "no money left"),
        ("message", "assistant", "It failed."),
    ]  # fmt: skip


def test_a_tool_of_openinference_without_the_id_of_its_call_is_that_of_the_message() -> None:
    path = Path(__file__).parent / "data" / "openinference_openai_agents_2.6.0.json"
    events = list(read_events(path))
    assert [(event.kind, event.name) for event in events] == [
        ("message", "user"), ("message", "assistant"), ("call", "records"), ("result", "records"),
        ("result", "records"), ("call", "fail"), ("result", "fail"), ("message", "assistant"),
    ]  # fmt: skip
    assert [event.text[:28] for event in events[3:5]] == [
        '{"type": "refund", "amount":',
        "[{'type': 'refund', 'amount'",
    ]
    assert [event.call_id for event in events if event.error] == ["c3"]


def test_openinference_beside_instructions_of_genai(tmp_path: Path) -> None:
    """Only a message that repeats them is left out."""
    first = "llm.input_messages.0.message"
    moved = {name.replace("input_messages.0", "input_messages.1"): value for name, value in OPENINFERENCE.items()}
    given = [{"type": "text", "content": "Be exact."}]
    for said, texts in [("Be exact.", ["Be exact.", *BOTH]), ("Be brief.", ["Be exact.", "Be brief.", *BOTH])]:
        system = {f"{first}.role": "system", f"{first}.content": said, "gen_ai.system_instructions": given}
        assert read(tmp_path / "s", span("a", moved | system, 1, 2))[0] == texts


def test_nothing_of_openinference_is_lost(tmp_path: Path) -> None:
    both = OPENINFERENCE | {"llm.input_messages.0.message.content": "Read this first."}
    text = read(tmp_path / "s", span("a", both, 1, 2))[0][0]
    assert ("Read this first." in text, "What is 1 + 2?" in text) == (True, True)
    other = OPENINFERENCE | {"llm.input_messages_note": "Hidden text of the caller"}
    with pytest.raises(BadTrace, match=r"no event would show the text under the key 'llm\.input_messages_note'"):
        read(tmp_path / "s", span("a", other, 1, 2))


@pytest.mark.parametrize("name", ["first.message.content", "0", "0.message", "0.message.role.name"])
def test_odd_attributes_of_openinference_are_refused(name: str, tmp_path: Path) -> None:
    odd = OPENINFERENCE | {f"llm.input_messages.{name}": "text"}
    with pytest.raises(BadTrace, match=r"s, span a: attributes llm\.input_messages\.… are not named as OpenInference"):
        read(tmp_path / "s", span("a", odd, 1, 2))


@pytest.mark.parametrize("behind", [0, 5, 50])
def test_a_process_whose_clock_is_behind_keeps_its_place(tmp_path: Path, behind: int) -> None:
    """A sub-agent in another process, below a span that has no attributes of GenAI."""
    tool_input = {"to": "helper"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ask", "gen_ai.tool.call.id": "c",
            "gen_ai.tool.call.arguments": tool_input, "gen_ai.tool.call.result": "done"}  # fmt: skip
    asks = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "ask", "arguments": tool_input}]}]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "I help."}]}]
    other = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": said}
    spans = [
        span("root", ROOT | {"gen_ai.input.messages": USER}, 51, 59),
        span("ask", {"gen_ai.operation.name": "chat", "gen_ai.output.messages": asks}, 52, 52.5, "root"),
        span("tool", tool, 53, 58, "root"),
        span("http", {}, 54 - behind, 57 - behind, "tool"),
        span("one", ROOT, 54.5 - behind, 56 - behind, "http"),
        span("two", other, 55 - behind, 56 - behind, "one"),
    ]
    assert read(tmp_path / "s", *reversed(spans)) == (["What is 1 + 2?", "to: helper", "I help.", "done"], [])


def test_a_missing_parent_is_noted(tmp_path: Path) -> None:
    """OpenTelemetry 1.44: a span is exported when it ends, so a run that was killed lacks the spans that were open."""
    texts, notes = read(tmp_path / "s", span("a", CALL, 1, 2, "root"), span("b", CALL, 3, 4, "root"))
    assert texts == [*BOTH, "It is 3."]
    assert len(notes) == 1
    assert "the file lacks 1 span to which others belong: the run ended early, spans were dropped" in notes[0]


def test_the_attributes_of_logfire(tmp_path: Path) -> None:
    own = {"logfire.span_type": "span", "logfire.msg": "chat adder", "logfire.metrics": {"tokens": [{"type": "input"}]}}
    assert read(tmp_path / "s", span("a", CALL | own, 1, 2)) == (BOTH, [])


def test_each_failed_call_is_shown_and_its_parents_do_not_repeat_it(tmp_path: Path) -> None:
    asked = {name: value for name, value in CALL.items() if name != "gen_ai.output.messages"}
    spans = [span(name, asked, start, start + 1, "r") for name, start in (("a", 1), ("b", 3))]
    status = {"status": {"status_code": "ERROR", "description": "Out of quota."}}
    failed = [json.dumps(json.loads(one) | status) for one in (*spans, span("r", ROOT, 0, 9))]
    assert read(tmp_path / "s", *failed)[0] == ["What is 1 + 2?", "Out of quota.", "Out of quota."]


def test_all_answers_in_the_span_of_a_tool_are_read(tmp_path: Path) -> None:
    parts = [{"type": "tool_call_response", "id": "c", "response": text} for text in ("One of two.", "Two of two.")]
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
    tool |= {"gen_ai.output.messages": [{"role": "tool", "parts": parts}]}
    assert "One of two.\nTwo of two." in read(tmp_path / "s", span("a", CALL, 1, 2), span("b", tool, 3, 4))[0]


def test_times_may_be_empty_or_have_any_fraction() -> None:
    second = nanoseconds("2026-01-01T00:00:01Z")
    times = ("", " ", "2026-01-01T00:00:01.5Z", "2026-01-01T00:00:01.5000000019+00:00")
    assert [nanoseconds(time) for time in times] == [0, 0, second + 500_000_000, second + 500_000_000]
