"""Items of OpenAI's Responses API: messages, reasoning, calls and outputs; a list, or a response with its input."""

from collections.abc import Iterator
from typing import Any

from judge_r1.traces.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat, first_with, without
from judge_r1.traces.chat_messages import message_events, read_messages
from judge_r1.traces.content import (
    TIME_FIELDS,
    content_text,
    has_failed,
    labelled_text,
    lists_with,
    other_parts,
    record_time,
    texts_at,
)
from judge_r1.traces.trace import EventDraft, argument_text, json_text

SETTINGS = ("text", "reasoning")
"""Fields of a response that hold how the text and the thoughts should be, beside the items."""
_OUTPUT = "_output"
_FAILED = ("failed", "incomplete")
_PARTS = {"output_text", "input_text"}
_ARGUMENTS = ("arguments", "input", "action", "actions", "queries", "code", "operation", "prompt", "revised_prompt")
_RESULTS = ("output", "results", "outputs", "result", "error", "pending_safety_checks")


def _recognises(shape: Shape) -> bool:
    paths = lists_with(shape, "type")
    types, parts = (texts_at(shape, paths, key) for key in ("type", "content.item.type"))
    return any(kind.endswith(("_call", f"_call{_OUTPUT}")) for kind in types) or bool(
        types & {"message", "reasoning"} and parts & _PARTS
    )


def _read(file: TraceFile) -> Iterator[EventDraft]:
    places = [f"{place}{name}" for place in ("", "request.", "response.", "body.") for name in SETTINGS]
    return read_messages(file, item_events, "type", "role", noun="item", settings=places)


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
        text, other, failed = _output(rest.pop("output", rest.pop("result", None)))
        call_id = rest.pop("call_id", None) or rest.get("id")
        failed = failed or rest.get("status") in _FAILED
        if kind == "tool_search_output":
            text = ", ".join(str(tool.get("name")) for tool in rest.get("tools") or () if isinstance(tool, dict))
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
    action = rest.get("action")
    if isinstance(action, dict) and (sources := action.get("sources")):
        rest |= {"action": without(action, "sources"), "results": sources}
    found = [name for name in _ARGUMENTS if name in rest]
    shown = {name: rest.pop(name) for name in found}
    arguments = shown[found[0]] if len(found) == 1 else shown
    drafts = [EventDraft("call", "assistant", argument_text(arguments), tool=tool, call_id=call_id)]
    failed = bool(rest.get("error")) or rest.get("status") in _FAILED
    for name in _RESULTS:
        if rest.get(name) is not None:
            value = rest.pop(name)
            if kind == "image_generation_call" and name == "result":
                value = [{"type": "image"}]  # base64
            text, other, broken = _output(value)
            error = failed or broken
            drafts.append(
                EventDraft("result", "tool", text, tool=tool, call_id=call_id, error=error, meta=other_parts(other))
            )
    return drafts


def _output(value: Any) -> tuple[str, list[Any], bool]:
    """The text of an output, its parts that are not text, and whether it says that it failed."""
    failed = has_failed(value)
    if isinstance(value, dict) and "content" in value:
        value = value["content"]
    elif isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return *content_text(value), failed
    texts, other = [], []
    for part in value:
        text, left = content_text([part])
        if isinstance(part, dict) and (left or "type" not in part):
            text = labelled_text(part) or text
        texts.append(text)
        other += left
    return "\n".join(texts), other, failed


FORMATS.register("openai-responses")(
    TraceFormat("items of OpenAI's Responses API, as function_call and function_call_output", _recognises, _read, 4)
)
