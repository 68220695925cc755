"""Chat messages as OpenAI's chat API has them: a list, an object with a list, or one message a line."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from judge_r1.core.trace import EventDraft, argument_text
from judge_r1.core.trace_formats.base import FORMATS, BadTrace, TraceFile, TraceFormat, first_with, without
from judge_r1.core.trace_formats.content import TIME_FIELDS, content_text, lists_with, other_parts, record_time
from judge_r1.core.trace_formats.parts import is_event, part_events

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_KNOWN = ("role", "content", "name", "tool_calls", "tool_call_id", "function_call", *_THOUGHTS, *TIME_FIELDS)


_IN_TURN = ({"input", "output"}, {"prompt", "completion"})
"""Lists of messages that are one conversation."""


def message_events(record: Any, where: object) -> Iterator[EventDraft]:
    """The events of one message: its thoughts, its text, and its tool calls; or the result of a call.

    Raises:
        BadTrace: It is not an object with a role.
    """
    content = checked_message(record, where).get("content")
    if isinstance(content, list) and any(map(is_event, content)):
        yield from part_events(record)
        return
    role, (text, other) = record["role"], content_text(content)
    rest = {**without(record, *_KNOWN), **other_parts(other)}
    if role in ("tool", "function"):
        drafts = [EventDraft("result", role, text, tool=record.get("name"), call_id=record.get("tool_call_id"))]
    else:
        thoughts = [record[name] for name in _THOUGHTS if record.get(name)]
        drafts = [EventDraft("thought", role, content_text(thought)[0]) for thought in thoughts[:1]]
        rest |= without({"name": record.get("name")})
        calls = [call for call in record.get("tool_calls") or () if isinstance(call, dict)]
        calls += [{"function": record["function_call"]}] if record.get("function_call") else []
        if text or not (drafts or calls):
            drafts.append(EventDraft("message", role, text))
        drafts += [_call(role, call) for call in calls]
    yield from first_with(drafts, rest, record_time(record))


def checked_message(record: Any, where: object) -> dict[str, Any]:
    """Raises: BadTrace if a record is not an object with a role."""
    if not isinstance(record, dict) or not isinstance(record.get("role"), str):
        raise BadTrace(f"{where}: a message must be an object with a role, not {str(record)[:80]}")
    return record


def with_fields(fields: Mapping[str, Any], drafts: Iterable[EventDraft]) -> Iterator[EventDraft]:
    """The events of a trace. The first one gets the fields of the trace as a whole."""
    for draft in drafts:
        yield draft._replace(meta={**draft.meta, "trace": fields}) if fields else draft
        fields = {}


def _call(role: str, call: dict[str, Any]) -> EventDraft:
    function = call.get("function") or call.get("custom") or call
    arguments = function.get("arguments", function.get("input"))
    meta = without(call, "id", "type", "function", "custom", "name", "arguments", "input")
    return EventDraft(
        "call", role, argument_text(arguments), tool=function.get("name"), call_id=call.get("id"), meta=meta
    )


def read_lists(file: TraceFile, *keys: str) -> tuple[dict[str, Any], Iterator[Any]]:
    """The fields beside the lists of records that have one of `keys`, and these records.

    Raises:
        BadTrace: There are several lists, other than those of a request and its response.
    """
    lists = sorted({path for key in keys for path in lists_with(file.shape, key)})
    for plain in ("", "item"):  # other lists are then inside the records
        if plain in lists:
            return {}, file.records(plain)
    talks = [path.removesuffix(".item") for path in lists_with(file.shape, "role")]
    if len(talks) > 1 and set(talks) not in _IN_TURN:
        raise BadTrace(
            f"{file.path} holds several lists of messages ({', '.join(talks)}): give a file with one of them"
        )
    return file.fields(*(name.removesuffix(".item") for name in lists)), file.records(*lists)


def _read(file: TraceFile) -> Iterator[EventDraft]:
    fields, records = read_lists(file, "role")
    return with_fields(
        fields,
        (
            draft
            for number, record in enumerate(records)
            for draft in message_events(record, f"{file.path}, message {number}")
        ),
    )


FORMATS.register("chat-messages")(
    TraceFormat(
        "messages with role and content, as in OpenAI's chat API",
        lambda shape: bool(lists_with(shape, "role")),
        _read,
        9,
    )
)
