"""Messages of Anthropic's API, whose tool calls and results are parts of a message's content."""

from collections.abc import Iterator
from typing import Any

from judge_r1.core.trace import EventDraft, argument_text
from judge_r1.core.trace_formats.base import FORMATS, Shape, TraceFile, TraceFormat, first_with, without
from judge_r1.core.trace_formats.chat_messages import checked_message, read_lists, with_fields
from judge_r1.core.trace_formats.content import TIME_FIELDS, content_text, lists_with, other_parts, record_time

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_THOUGHTS = ("thinking", "redacted_thinking")


def _recognises(shape: Shape) -> bool:
    types = {
        kind for path in lists_with(shape, "role") for kind in shape.values(f"{path}.content.item.type".lstrip("."))
    }
    return any(kind in (*_CALLS, *_THOUGHTS) or kind.endswith("tool_result") for kind in types)


def _read(file: TraceFile) -> Iterator[EventDraft]:
    fields, records = read_lists(file, "role")
    if fields.get("system"):
        text, other = content_text(fields.pop("system"))
        yield EventDraft("message", "system", text, meta=other_parts(other))
    yield from with_fields(
        fields,
        (
            draft
            for number, record in enumerate(records)
            for draft in _message(checked_message(record, f"{file.path}, message {number}"))
        ),
    )


def _message(record: dict[str, Any]) -> Iterator[EventDraft]:
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


FORMATS.register("anthropic-messages")(
    TraceFormat("messages of Anthropic's API, with tool_use and tool_result parts", _recognises, _read, 4)
)
