"""Every text of a file is in an event, or under a key without text, or counted as unread."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge_r1.traces import BadTrace, Unread, read_events

SAY: dict[str, Any] = {"role": "assistant", "content": "Done."}
SPAN = {"context": {"span_id": "1", "trace_id": "t"}, "start_time": "2026-01-01T00:00:00Z"}
FILES: dict[str, Any] = {
    "chat-messages": lambda odd: [{**SAY, **odd}],
    "beside the list": lambda odd: {"messages": [SAY], **odd},
    "anthropic-messages": lambda odd: [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x", **odd}]}
    ],
    "openai-responses": lambda odd: [
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "ok", **odd},
    ],
    "opentelemetry": lambda odd: {
        **SPAN, "attributes": {
            "gen_ai.output.messages": json.dumps(
                [{"role": "assistant", "parts": [{"type": "text", "content": "Done.", **odd}]}]
            )
        },
    },
    "claude-code": lambda odd: {"type": "user", "sessionId": "s", "message": {**SAY, **odd}},
    "codex": lambda odd: {"type": "response_item", "payload": {"type": "message", **SAY, **odd}},
    "verifiers": lambda odd: {"nodes": [{"message": {**SAY, **odd}}]},
    "gemini": lambda odd: {"contents": [{"role": "model", "parts": [{"text": "Done.", **odd}]}]},
    "gemini function": lambda odd: [
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok", **odd}, **odd}}]}
    ],
    "adk": lambda odd: [{"author": "a", "content": {"role": "model", "parts": [{"text": "Done."}]}, **odd}],
    "mini-swe-agent": lambda odd: {"trajectory_format": "mini-swe-agent-1.1", "messages": [{**SAY, **odd}]},
    "gemini-cli": lambda odd: {
        "sessionId": "s", "projectHash": "p", "messages": [
            {"id": "1", "type": "gemini", "content": "Done.", "toolCalls": [
                {"id": "c", "name": "f", "args": {}, "result": [{"text": "ok", **odd}], "status": "success", **odd}]}],
    },
    "gemini-cli stream": lambda odd: [
        {"type": "init", "session_id": "s", "timestamp": "2026-01-01T00:00:00Z"},
        {"type": "message", "role": "assistant", "content": "Done.", "timestamp": "2026-01-01T00:00:00Z", **odd},
    ],
    "openhands": lambda odd: [
        {"id": "1", "kind": "MessageEvent", "source": "agent", "llm_message": {**SAY, **odd}},
        {"id": "2", "kind": "ObservationEvent", "source": "environment", "tool_name": "f", "tool_call_id": "c",
         "observation": {"content": [{"type": "text", "text": "ok", **odd}]}},
    ],
    "openhands 0": lambda odd: [
        {"source": "agent", "action": "message", "args": {"content": "Done.", **odd}, "message": "Done."},
        {"source": "agent", "observation": "run", "content": "ok", "extras": {}, **odd},
    ],
    "langfuse": lambda odd: [
        {"id": "1", "type": "GENERATION", "startTime": "2026-01-01T00:00:00Z", "input": [SAY], "output": {**SAY, **odd}}
    ],
    "langchain": lambda odd: [{"type": "ai", "data": {"content": "Done.", **odd}, **odd}],
    "completion": lambda odd: {"messages": [SAY], "choices": [{"message": {**SAY, **odd}, **odd}], **odd},
    "bedrock": lambda odd: [{"role": "user", "content": [
        {"toolResult": {"toolUseId": "c", "content": [{"text": "ok", **odd}], **odd}, **odd}]}],
    "pages": lambda odd: [{"role": "assistant", "parts": [
        {"type": "tool-f", "toolCallId": "c", "input": {}, "output": {"a": 1, **odd}, **odd}]}],
    "documents": lambda odd: [{"role": "user", "content": [
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x", **odd}, **odd}]}],
}  # fmt: skip
ODD = st.dictionaries(
    st.text("abcdefgh_.", min_size=1, max_size=12).map(lambda name: f"odd_{name}!"),
    st.lists(st.text("xyz \n\"\\é", min_size=3, max_size=40), max_size=3) | st.text("xyz é", min_size=3, max_size=40),
    min_size=1, max_size=3,
)  # fmt: skip


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for one in (value.values() if isinstance(value, dict) else value) for text in _strings(one)]


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(odd=ODD)
def test_an_odd_text_is_in_an_event_or_unread(tmp_path: Path, name: str, odd: dict[str, Any]) -> None:
    (path := tmp_path / "trace.json").write_text(json.dumps(FILES[name](odd)), encoding="utf-8")
    unread = Unread(allowed=True)
    shown = "\n".join(event.text for event in read_events(path, unread=unread))
    texts = [text for text in _strings(odd) if text.strip()]
    escaped = [(text.strip(), json.dumps(text.strip(), ensure_ascii=False)[1:-1]) for text in texts]
    missing = [forms for forms in escaped if not any(form in shown for form in forms)]
    assert unread.count >= len(missing)
    if missing:
        with pytest.raises(BadTrace, match=r"no event would show the text under the key .*--allow-unread"):
            list(read_events(path))


def test_a_key_without_text_is_left_out_and_a_long_text_under_it_is_not(tmp_path: Path) -> None:
    (path := tmp_path / "trace.json").write_text(json.dumps([{**SAY, "id": "m1", "usage": {"tier": "a b"}}]))
    assert len(list(read_events(path))) == 1
    path.write_text(json.dumps([{**SAY, "id": "a sentence " * 50}]))
    with pytest.raises(BadTrace, match="the key 'id'"):
        list(read_events(path))


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"status": "It failed badly."}, "the key 'status'"),
        ({"detail": "File missing"}, "the key 'detail'"),
        ({"tags": ["good", "It lied to the user about it"]}, "the key 'tags'"),
        ({"name": "I deleted it."}, "the key 'name'"),
        ({"image_url": "It lied."}, "the key 'image_url'"),
        ({"caller": {"why": "It lied."}}, "the key 'why'"),
        ({"note": "ok"}, r"the key 'note' \('ok'\)"),
        ({"status": "completed", "name": "The Helper", "tags": ["a b"], "note": "Done."}, None),
    ],
)
def test_a_sentence_under_a_key_of_codes_and_a_text_inside_another_are_unread(
    tmp_path: Path, field: dict[str, Any], said: str | None
) -> None:
    record = {"role": "assistant", "content": "All is ok here.\nDone.", **field}
    (path := tmp_path / "trace.json").write_text(json.dumps([record, SAY]))
    if said is None:
        assert len(list(read_events(path))) == 2
    else:
        with pytest.raises(BadTrace, match=f"record 0: no event .*{said}"):
            list(read_events(path))


def test_a_message_without_a_readable_text_is_named(tmp_path: Path) -> None:
    (path := tmp_path / "trace.json").write_text(json.dumps([SAY, {"role": "user", "text": "Fix it."}]))
    with pytest.raises(BadTrace, match=r"record 1 is an empty event: .* under the key 'text'"):
        list(read_events(path))
    path.write_text(json.dumps([{"role": "user", "content": ""}, {"role": "assistant", "content": None}]))
    with pytest.raises(BadTrace, match="none of its events has a text: its writer kept no contents"):
        list(read_events(path))


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_text_of_one_message_that_another_repeats_is_unread(tmp_path: Path, name: str) -> None:
    odd = {"odd": "This sentence stands in two messages."}
    records = [FILES[name](odd), FILES[name]({"content": odd["odd"]})]
    (path := tmp_path / "trace.json").write_text("\n".join(map(json.dumps, records)))
    with pytest.raises(BadTrace, match="the key 'odd'"):
        list(read_events(path))


@pytest.mark.parametrize(
    "odd",
    [
        {"response_metadata": {"message": {"thinking": "the lint step fails, so I skip it"}}},
        {"plan": {"run the whole suite of tests again": True}},
        {"usage": {"tokens": 3, "notes": ["the quota of this project is used up"]}},
    ],
)  # fmt: skip
def test_a_sentence_as_a_key_or_below_an_object_of_counts_is_unread(tmp_path: Path, odd: dict[str, Any]) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps([{**SAY, **odd}, SAY]))
    with pytest.raises(BadTrace, match="no event would show the text under the key"):
        list(read_events(path))


def test_a_sentence_below_bytes_is_shown(tmp_path: Path) -> None:
    (path := tmp_path / "trace.json").write_text(
        json.dumps(
            [{"role": "user", "content": [
                {"type": "input_audio", "input_audio": {"data": "AAAA", "text": "please run all the tests now"}},
                {"type": "image_url", "image_url": {"url": "data:,", "alt": "a red bar in the chart of tests"}},
                {"type": "image", "url": "https://a.org/b.png"}]}]
        )
    )  # fmt: skip
    assert [event.text for event in read_events(path)] == [
        "[input_audio]\nplease run all the tests now\n[image_url]\nalt: a red bar in the chart of tests\n[image]\n"
        "url: https://a.org/b.png"
    ]


def test_a_value_in_a_result_without_a_type_is_its_json(tmp_path: Path) -> None:
    result = {"toolResult": {"toolUseId": "1", "content": [{"json": {"lines": ["all 3 pass"]}}, {"text": "ok"}]}}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"messages": [{"role": "user", "content": [result]}]}))
    assert [event.text for event in read_events(path)] == ['{"lines": ["all 3 pass"]}\nok']


def test_a_file_without_any_event_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text('{"type": "session.created", "item": {"type": "message", "role": "user", "content": []}}')
    with pytest.raises(BadTrace, match="holds no message, call or result of the format"):
        list(read_events(path, number=1, unread=Unread(allowed=True)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (json.dumps(SAY) + "\n" + json.dumps(SAY)[:-9], r"line 2 column \d+\): it is cut within a value: export"),
        (json.dumps([SAY, SAY])[:-1], r"line 1 column \d+\): it is cut within a value: export"),
        (json.dumps(SAY) + "\n\n# a comment\n", r"line 3 column 1\): a trace is JSON"),
    ],
)
def test_an_error_names_the_line_and_says_whether_the_file_is_cut(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text)
    with pytest.raises(BadTrace, match=said):
        list(read_events(path))


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    (path := tmp_path / "trace.json").write_text('[{"role": "user", "content": "a", "content": "b"}]')
    with pytest.raises(BadTrace, match="the key 'content' twice"):
        list(read_events(path))


def test_reading_is_linear_in_the_length_of_a_text(tmp_path: Path) -> None:
    def seconds(size: int) -> float:
        text = json.dumps([SAY, {"role": "tool", "tool_call_id": "c", "content": "a line of a log\n" * (size // 16)}])
        (path := tmp_path / "trace.json").write_text(text)
        start = time.process_time()
        list(read_events(path))
        return time.process_time() - start

    seconds(2**18)
    least = {size: min(seconds(size) for _ in range(3)) for size in (2**21, 2**23)}
    assert least[2**23] < 16 * max(least[2**21], 0.005)


def test_a_list_of_conversations_is_several_traces(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    for talks in ([[SAY], [SAY, SAY]], [{"messages": [SAY]}, {"messages": [SAY, SAY]}]):
        path.write_text(json.dumps(talks))
        assert [len(list(read_events(path, number=number))) for number in (1, 2)] == [1, 2]
        with pytest.raises(BadTrace, match="holds several traces"):
            list(read_events(path))
