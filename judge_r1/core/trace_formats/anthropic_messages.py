"""Messages of Anthropic's API, whose tool calls and results are parts of a message's content."""

from collections.abc import Iterator

from judge_r1.core.trace import EventDraft
from judge_r1.core.trace_formats.base import FORMATS, Shape, TraceFile, TraceFormat
from judge_r1.core.trace_formats.chat_messages import is_event_type, listed_events, part_events, read_lists
from judge_r1.core.trace_formats.content import content_text, lists_with, other_parts, texts_at


def _recognises(shape: Shape) -> bool:
    return any(map(is_event_type, texts_at(shape, lists_with(shape, "role"), "content.item.type")))


def _read(file: TraceFile) -> Iterator[EventDraft]:
    fields, records = read_lists(file, "role")
    if fields.get("system"):
        text, other = content_text(fields.pop("system"))
        yield EventDraft("message", "system", text, meta=other_parts(other))
    yield from listed_events(file, fields, records, part_events)


FORMATS.register("anthropic-messages")(
    TraceFormat("messages of Anthropic's API, with tool_use and tool_result parts", _recognises, _read, 4)
)
