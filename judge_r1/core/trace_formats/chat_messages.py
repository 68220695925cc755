"""Chat messages as OpenAI's chat API has them: a list, an object with a list, or one message a line. A content may have
the parts of Anthropic's API."""

from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from judge_r1.core.trace import EventDraft, argument_text
from judge_r1.core.trace_formats.base import FORMATS, BadTrace, TraceFile, TraceFormat, first_with, without
from judge_r1.core.trace_formats.content import TIME_FIELDS, content_text, lists_with, other_parts, record_time

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_KNOWN = ("role", "content", "refusal", "name", "tool_calls", "tool_call_id", "function_call", *_THOUGHTS, *TIME_FIELDS)
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool-call")
_THOUGHT_PARTS = ("thinking", "redacted_thinking")
"""Types of the parts of a content that are events of their own in Anthropic's API, beside results."""
_IN_TURN = ({"input", "output"}, {"prompt", "completion"})
"""Lists of messages that are one conversation."""
Reader = Callable[[Any, str], Iterator[EventDraft]]
"""Yields the events of a record. The text says where the record stands, for messages."""


def message_events(record: Any, where: str) -> Iterator[EventDraft]:
    """The events of one message: its thoughts, its text, and its tool calls; or the result of a call.

    Raises:
        BadTrace: It is not an object with a role.
    """
    content = _checked(record, where).get("content")
    if isinstance(content, list) and any(isinstance(p, dict) and is_event_type(str(p.get("type"))) for p in content):
        yield from part_events(record, where)
        return
    content = record.get("refusal") if content is None else content
    role, (text, other) = record["role"], content_text(content)
    if role in ("tool-call", "tool-response"):
        yield from _smolagents(role, text)
        return
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


def _smolagents(role: str, text: str) -> Iterator[EventDraft]:
    """The calls or the result of a message of smolagents, whose calls are a list in Python's notation."""
    before, _, listed = text.partition("Calling tools:\n")
    try:
        calls = literal_eval(listed) if role == "tool-call" and listed else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        calls = None
    if role == "tool-call" and isinstance(calls, list) and all(isinstance(call, dict) for call in calls):
        if before.strip():
            yield EventDraft("message", "assistant", before.strip())
        for call in calls:
            yield _call("assistant", call)._replace(forms=(text,))
    elif role == "tool-response":
        yield EventDraft("result", "tool", text.removeprefix("Observation:\n"), forms=(text,))
    else:
        yield EventDraft("message", "assistant", text)


def _checked(record: Any, where: str) -> dict[str, Any]:
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
    arguments = function.get("arguments", function.get("input", function.get("args")))
    meta = without(call, "id", "type", "function", "custom", "name", "arguments", "input", "args")
    return EventDraft(
        "call", role, argument_text(arguments), tool=function.get("name"), call_id=call.get("id"), meta=meta
    )


def is_event_type(kind: str) -> bool:
    return kind in (*_CALLS, *_THOUGHT_PARTS) or kind.endswith(("tool_result", "tool-result"))


def part_events(record: Any, where: str) -> Iterator[EventDraft]:
    """The events of a message: its texts, and the parts that are events of their own. Raises: BadTrace."""
    content = _checked(record, where).get("content")
    content = record.get("refusal") if content is None else content
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
            texts += [] if part in (None, "") else [part]
        else:
            message()
            drafts.append(draft)
    message()
    known = {draft.call_id for draft in drafts}
    calls = [_call(record["role"], call) for call in record.get("tool_calls") or () if isinstance(call, dict)]
    drafts += [call for call in calls if call.call_id not in known]  # LangChain has them beside the content
    rest = without(record, "role", "content", "refusal", "type", "tool_calls", *TIME_FIELDS)
    yield from first_with(drafts or [EventDraft("message", record["role"], "")], rest, record_time(record))


def _part(role: str, part: dict[str, Any]) -> EventDraft | None:
    """The event of a part that is not text or an image."""
    kind = str(part.get("type"))
    if kind in ("tool-call", "tool-result"):  # of the AI SDK
        return _ai_sdk_part(role, kind, part)
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
    if kind in _THOUGHT_PARTS:
        return EventDraft(
            "thought", role, str(part.get("thinking") or f"[{kind}]"), meta=without(part, "type", "thinking")
        )
    return None


def _ai_sdk_part(role: str, kind: str, part: dict[str, Any]) -> EventDraft:
    name, call_id = part.get("toolName"), part.get("toolCallId")
    if kind == "tool-call":
        return EventDraft("call", role, argument_text(part.get("input", part.get("args"))), tool=name, call_id=call_id)
    output = part.get("output", part.get("result"))
    form = str(output.get("type")) if isinstance(output, dict) else ""
    value = output["value"] if isinstance(output, dict) and "value" in output else output
    text, other = content_text(value)
    failed = form.startswith("error") or bool(part.get("isError"))
    return EventDraft("result", "tool", text, tool=name, call_id=call_id, error=failed, meta=other_parts(other))


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


def listed_events(
    file: TraceFile, fields: Mapping[str, Any], records: Iterable[Any], read: Reader, noun: str = "message"
) -> Iterator[EventDraft]:
    """The events of listed records, each of which `read` turns into events."""
    found = (read(record, f"{file.path}, {noun} {number}") for number, record in enumerate(records))
    return with_fields(fields, chain.from_iterable(found))


def _read(file: TraceFile) -> Iterator[EventDraft]:
    return listed_events(file, *read_lists(file, "role"), message_events)


FORMATS.register("chat-messages")(
    TraceFormat(
        "messages with role and content, as in OpenAI's chat API",
        lambda shape: bool(lists_with(shape, "role")),
        _read,
        9,
    )
)
