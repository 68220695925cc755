"""Spans whose exporter cut their attributes, and spans of writers that kept no contents."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_r1.traces import BadTrace, Unread, read_events

LIMIT = 200
MARK = " [cut by the exporter]"


def written(path: Path, *spans: Mapping[str, Any], limit: int | None = LIMIT) -> Path:
    """The spans as the console exporter prints them, with texts of at most `limit` characters."""
    lines = []
    for number, attributes in enumerate(spans):
        times = {"start_time": f"2026-01-01T00:00:0{number}Z", "end_time": f"2026-01-01T00:00:0{number}Z"}
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in attributes.items()}
        own = {"gen_ai.operation.name": "chat", **{key: text[:limit] for key, text in texts.items()}}
        context = {"trace_id": "t", "span_id": f"s{number}"}
        lines.append(json.dumps({"name": "chat", "context": context, "attributes": own, **times}))
    path.write_text("\n".join(lines))
    return path


def message(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text} for text in texts]}


def test_a_cut_text_is_shown_with_a_mark_and_its_file_is_refused(tmp_path: Path) -> None:
    asked = {"gen_ai.input.messages": [message("user", "Hi"), message("user", "long " * 80)]}
    run = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash", "gen_ai.tool.call.id": "c",
           "gen_ai.tool.call.arguments": {"command": "cat " + "x" * 300},
           "gen_ai.tool.call.result": "y " * 300}  # fmt: skip
    path = written(tmp_path / "spans.json", asked, run)
    with pytest.raises(BadTrace, match=r"has cut the attribute 'gen_ai.input.messages' at its limit: raise OTEL_"):
        list(read_events(path))
    unread = Unread(allowed=True)
    first, second, call, result = read_events(path, unread=unread)
    assert (first.text, unread.count) == ("Hi", 3)
    assert all(event.text.endswith(MARK) for event in (second, call, result))
    assert second.text.startswith("long long")
    assert call.text.startswith("command: cat xx")
    assert '{"' not in "".join(event.text for event in (first, second, call, result))


@given(length=st.integers(40, 420))
def test_no_limit_shows_a_fragment_of_json_as_a_text(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    arguments = json.dumps({"command": "ls " * 20})
    parts = [
        {"type": "text", "content": "I look."},
        {"type": "tool_call", "id": "c", "name": "sh", "arguments": arguments},
    ]
    said = {"gen_ai.output.messages": [{"role": "assistant", "parts": parts}, message("assistant", "Done. " * 20)]}
    path = written(tmp_path_factory.mktemp("cut") / "spans.json", said, limit=length)
    unread = Unread(allowed=True)
    try:
        shown = "".join(event.text for event in read_events(path, unread=unread))
    except BadTrace as error:
        assert "kept no contents" in str(error)  # noqa: PT017
        return
    whole = length >= len(json.dumps(said["gen_ai.output.messages"]))
    assert unread.count == (0 if whole else 1)
    assert "{" not in shown


def test_texts_that_look_like_json_and_whole_texts_of_any_length_are_not_cut(tmp_path: Path) -> None:
    texts = [
        "[draft] no JSON, but a text that begins like it and is long enough",
        '{"a": "whole JSON, which an agent wrote"}',
    ]
    asked = {"gen_ai.input.messages": [message("user", text) for text in texts], "gen_ai.tool.call.result": texts[0]}
    events = list(read_events(written(tmp_path / "spans.json", asked, limit=None)))
    assert [event.text for event in events][:2] == texts
    assert MARK not in "".join(event.text for event in events)


@pytest.mark.parametrize(
    ("more", "option"),
    [
        ({"traceloop.entity.name": "chain"}, "TRACELOOP_TRACE_CONTENT=true"),
        ({"logfire.msg": "agent run"}, r"InstrumentationSettings\(include_content=True\)"),
        ({"gen_ai.usage.input_tokens": "7"}, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY"),
    ],
)
def test_a_writer_without_contents_is_refused_with_its_option(
    tmp_path: Path, more: dict[str, str], option: str
) -> None:
    quiet = {
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "sh"}]}]
    }
    agent = {"gen_ai.system_instructions": [{"type": "text", "content": "Be exact."}]}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "sh", "gen_ai.tool.call.result": "{}"}
    for spans in ([more], [quiet, more], [agent, more], [tool, more]):
        with pytest.raises(BadTrace, match=f"{len(spans)} spans? without the text .* kept no contents; set {option}"):
            list(read_events(written(tmp_path / "spans.json", *spans)))
