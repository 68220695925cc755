"""Parts of a message's content that are events of their own, as in Anthropic's API: calls, results and thoughts."""

from collections.abc import Iterator, Mapping
from typing import Any

from judge_r1.core.trace import EventDraft, argument_text
from judge_r1.core.trace_formats.base import first_with, without
from judge_r1.core.trace_formats.content import TIME_FIELDS, content_text, other_parts, record_time

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_THOUGHTS = ("thinking", "redacted_thinking")


def is_event_type(kind: str) -> bool:
    return kind in (*_CALLS, *_THOUGHTS) or kind.endswith("tool_result")


def is_event(part: Any) -> bool:
    """Whether a part of a content is an event of its own."""
    return isinstance(part, dict) and is_event_type(str(part.get("type")))


def part_events(record: Mapping[str, Any]) -> Iterator[EventDraft]:
    """The events of a message: its texts, and the parts that are events of their own."""
    content = record.get("content")
    parts = content if isinstance(content, list) else [content]
    drafts: list[EventDraft] = []
    texts: list[Any] = []

    def message() -> None:
        if texts:
            text, other = content_text(texts)
            drafts.append(EventDraft("message", record["role"], text, meta=other_parts(other)))
            texts.clear()

    for part in parts:
        draft = _part(record["role"], part) if isinstance(part, dict) else None
        if draft is None:
            texts += [] if part is None else [part]
        else:
            message()
            drafts.append(draft)
    message()
    rest = without(record, "role", "content", "type", *TIME_FIELDS)
    yield from first_with(drafts or [EventDraft("message", record["role"], "")], rest, record_time(record))


def _part(role: str, part: dict[str, Any]) -> EventDraft | None:
    """The event of a part that is not text or an image."""
    kind = str(part.get("type"))
    if kind in _CALLS:
        rest = without(part, "type", "id", "name", "input")
        return EventDraft(
            "call", role, argument_text(part.get("input")), tool=part.get("name"), call_id=part.get("id"), meta=rest
        )
    if kind.endswith("tool_result"):
        text, other = content_text(part.get("content"))
        rest = {**without(part, "type", "tool_use_id", "content", "is_error"), **other_parts(other)}
        return EventDraft(
            "result", "tool", text, call_id=part.get("tool_use_id"), error=bool(part.get("is_error")), meta=rest
        )
    if kind in _THOUGHTS:
        return EventDraft(
            "thought", role, str(part.get("thinking") or f"[{kind}]"), meta=without(part, "type", "thinking")
        )
    return None
