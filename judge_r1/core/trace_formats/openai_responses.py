"""Items of OpenAI's Responses API: messages, reasoning, calls and outputs; a list, or a response with its input."""

from collections.abc import Iterator
from typing import Any

from judge_r1.core.trace import EventDraft, argument_text, json_text
from judge_r1.core.trace_formats.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat, first_with, without
from judge_r1.core.trace_formats.chat_messages import listed_events, message_events, read_lists
from judge_r1.core.trace_formats.content import (
    TIME_FIELDS,
    content_text,
    lists_with,
    other_parts,
    record_time,
    texts_at,
)

_OUTPUT = "_output"
_FAILED = ("failed", "incomplete")
_PARTS = {"output_text", "input_text"}


def _recognises(shape: Shape) -> bool:
    paths = lists_with(shape, "type")
    types, parts = (texts_at(shape, paths, key) for key in ("type", "content.item.type"))
    return any(kind.endswith(("_call", f"_call{_OUTPUT}")) for kind in types) or bool(
        types & {"message", "reasoning"} and parts & _PARTS
    )


def _read(file: TraceFile) -> Iterator[EventDraft]:
    fields, records = read_lists(file, "type", "role")
    for name, role in (("instructions", "system"), ("input", "user")):
        if isinstance(fields.get(name), str):
            yield EventDraft("message", role, fields.pop(name))
    yield from listed_events(file, fields, records, item_events, "item")


def item_events(record: Any, where: str) -> Iterator[EventDraft]:
    """The events of one item. Raises: BadTrace."""
    if not isinstance(record, dict) or not isinstance(kind := record.get("type", "message"), str):
        raise BadTrace(f"{where}: an item must be an object with a type, not {str(record)[:80]}")
    if kind == "message" or ("role" in record and kind != "reasoning"):
        yield from message_events({name: value for name, value in record.items() if name != "type"}, where)
        return
    rest = without(record, "type", *TIME_FIELDS)
    drafts: list[EventDraft]
    if kind == "reasoning":
        parts = [part for name in ("summary", "content") for part in rest.pop(name, None) or []]
        text, other = content_text(parts)
        drafts = [EventDraft("thought", "assistant", text, meta=other_parts(other))]
    elif kind.endswith(_OUTPUT):
        text, other = content_text(rest.pop("output", None))
        call_id = rest.pop("call_id", None)
        failed = rest.get("status") in _FAILED
        drafts = [EventDraft("result", "tool", text, call_id=call_id, error=failed, meta=other_parts(other))]
    elif kind.endswith("_call"):
        drafts = _call(kind, rest)
    else:
        drafts, rest = [EventDraft("message", kind, json_text(rest))], {}
    yield from first_with(drafts, rest, record_time(record))


def _call(kind: str, rest: dict[str, Any]) -> list[EventDraft]:
    """The events of a call; tools that the server runs have their output in it. Takes what they show from `rest`."""
    call_id = rest.pop("call_id", None) or rest.get("id")
    tool = rest.pop("name", None) or kind.removesuffix("_call")
    found = [name for name in ("arguments", "input", "action", "queries", "code", "operation") if name in rest]
    shown = {name: rest.pop(name) for name in found}
    arguments = shown[found[0]] if len(found) == 1 else shown
    drafts = [EventDraft("call", "assistant", argument_text(arguments), tool=tool, call_id=call_id)]
    failed = bool(rest.get("error")) or rest.get("status") in _FAILED
    for name in ("output", "results", "outputs", "result", "error"):
        if rest.get(name) is not None:
            found = rest.pop(name)
            text, other = content_text(found.get("content", found) if isinstance(found, dict) else found)
            drafts.append(
                EventDraft("result", "tool", text, tool=tool, call_id=call_id, error=failed, meta=other_parts(other))
            )
    return drafts


FORMATS.register("openai-responses")(
    TraceFormat("items of OpenAI's Responses API, as function_call and function_call_output", _recognises, _read, 4)
)
