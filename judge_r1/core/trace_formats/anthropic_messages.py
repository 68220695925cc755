"""Messages of Anthropic's API, whose tool calls and results are parts of a message's content."""

from collections.abc import Iterator

from judge_r1.core.trace import EventDraft
from judge_r1.core.trace_formats.base import FORMATS, Shape, TraceFile, TraceFormat
from judge_r1.core.trace_formats.chat_messages import checked_message, read_lists, with_fields
from judge_r1.core.trace_formats.content import content_text, lists_with, other_parts
from judge_r1.core.trace_formats.parts import is_event_type, part_events


def _recognises(shape: Shape) -> bool:
    types = {
        kind for path in lists_with(shape, "role") for kind in shape.values(f"{path}.content.item.type".lstrip("."))
    }
    return any(map(is_event_type, types))


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
            for draft in part_events(checked_message(record, f"{file.path}, message {number}"))
        ),
    )


FORMATS.register("anthropic-messages")(
    TraceFormat("messages of Anthropic's API, with tool_use and tool_result parts", _recognises, _read, 4)
)
