"""Messages of Anthropic's API, whose tool calls and results are parts of a message's content."""

from collections.abc import Iterator

from judge_r1.traces.base import FORMATS, Shape, TraceFile, TraceFormat
from judge_r1.traces.chat_messages import is_event_type, message_events, read_messages
from judge_r1.traces.content import lists_with, texts_at
from judge_r1.traces.trace import EventDraft


def _recognises(shape: Shape) -> bool:
    return any(map(is_event_type, texts_at(shape, lists_with(shape, "role"), "content.item.type")))


def _read(file: TraceFile) -> Iterator[EventDraft]:
    return read_messages(file, message_events, "role")


FORMATS.register("anthropic-messages")(
    TraceFormat("messages of Anthropic's API, with tool_use and tool_result parts", _recognises, _read, 4)
)
