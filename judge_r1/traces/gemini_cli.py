"""Gemini CLI: the file of a session (`~/.gemini/tmp/*/chats/session-…`), and the output of its stream-json.

A later line of a session replaces the message with its id, and the result of a call that stands in it and in the next
message is one. A stream has no output of tools that only read. The output of `--output-format json`, which has only the
last answer, is refused with what to export.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from judge_r1.traces.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat, first_with, without
from judge_r1.traces.chat_messages import with_fields
from judge_r1.traces.content import content_text, labelled_text, record_time
from judge_r1.traces.gemini import part_events
from judge_r1.traces.trace import EventDraft, argument_text, json_text

_STREAM = {"message", "tool_use", "tool_result", "result"}
_DISPLAY = ("displayContent", "resultDisplay", "displayName", "description", "tokens", "model")
"""Fields for the user's screen: their texts only count as unread."""


def _prefix(shape: Shape) -> str:
    return "item" if shape.has("item.type", "item.timestamp") else ""


def _is_stream(shape: Shape) -> bool:
    start = f"{_prefix(shape)}.".lstrip(".")
    types = shape.values(f"{start}type")
    return "init" in types and bool(types & _STREAM) and shape.has(f"{start}session_id", f"{start}timestamp")


def _recognises(shape: Shape) -> bool:
    start = "item." if shape.has("item.sessionId") else ""
    is_session = shape.has(f"{start}sessionId", f"{start}projectHash")
    return is_session or _is_stream(shape) or shape.has("response", "stats.models")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    if file.shape.has("response", "stats.models"):
        raise BadTrace(
            f"{file.path} is the output of Gemini CLI with --output-format json, which has only the last answer: "
            "use --output-format stream-json, or give the file of the session (~/.gemini/tmp/*/chats/session-*)"
        )
    yield from _stream(file) if _is_stream(file.shape) else _session(file)


def _session(file: TraceFile) -> Iterator[EventDraft]:
    messages: dict[str, Any] = {}
    fields: dict[str, Any] = {}
    for record in file.records(_prefix(file.shape), noted=False):
        changed = record.get("$set", record)
        if going_back := record.get("$rewindTo"):
            messages[f"rewind {len(messages)}"] = {"type": "info", "content": f"(went back to message {going_back})"}
        elif "id" in record and "type" in record:
            messages[str(record["id"])] = record
        for message in changed.get("messages") or ():
            messages[str(message.get("id"))] = message
        if "id" not in record:
            fields |= without(changed, "messages", "$rewindTo")
    file.unread.note(fields, "a field beside the messages", refuses=False, beside=True)
    yield from with_fields(fields, _once(draft for one in messages.values() for draft in _message(file, one)))


def _once(drafts: Iterable[EventDraft]) -> Iterator[EventDraft]:
    """The events, each result once."""
    results = set()
    for draft in drafts:
        own = (draft.call_id, draft.text)
        if draft.kind != "result" or not draft.call_id or own not in results:
            yield draft
        results.add(own)


def _message(file: TraceFile, message: dict[str, Any]) -> Iterator[EventDraft]:
    kind, where = str(message.get("type")), f"message {message.get('id')}"
    calls = message.get("toolCalls") or []
    file.unread.note(without(message, "toolCalls", *_DISPLAY), where)
    file.unread.note(calls and [without(call, *_DISPLAY) for call in calls], where)
    shown = [
        {name: own.get(name) for name in ("displayContent", "resultDisplay", "description")}
        for own in (message, *calls)
    ]
    file.unread.note(shown, where, refuses=False)
    role = "assistant" if kind == "gemini" else kind
    drafts = [
        EventDraft("thought", role, "\n".join(filter(None, (one.get("subject"), one.get("description")))))
        for one in message.get("thoughts") or ()
    ]
    drafts += [draft for draft in part_events(role, message.get("content")) if draft.text]
    for call in calls:
        drafts += _call(call)
    if drafts and drafts[0].text.startswith("<session_context>"):
        drafts[0] = drafts[0]._replace(role="system")
    file.unread.show(*drafts)
    yield from first_with(drafts, {}, record_time(message))


def _call(call: dict[str, Any]) -> list[EventDraft]:
    name, call_id, time = call.get("name"), call.get("id"), record_time(call)
    failed = call.get("status") in ("error", "cancelled")
    found = [EventDraft("call", "assistant", argument_text(call.get("args")), name, call_id, time=time)]
    results = part_events("tool", call.get("result")) if call.get("result") else []
    if not results and call.get("resultDisplay"):
        shown = call["resultDisplay"]
        results = [EventDraft("result", "tool", shown if isinstance(shown, str) else json_text(shown))]
    for draft in results:
        error = failed or draft.error
        found.append(draft._replace(kind="result", role="tool", tool=name, call_id=call_id, error=error, time=time))
    return found


def _stream(file: TraceFile) -> Iterator[EventDraft]:
    fields: dict[str, Any] = {}
    drafts: list[EventDraft] = []
    for number, record in enumerate(_whole_messages(file)):
        file.unread.note(record, f"record {number}", refuses=record.get("type") != "init")
        found = _line(record)
        file.unread.show(*found)
        drafts += (draft._replace(time=record_time(record)) for draft in found)
        if not found:
            fields |= without(record, "type", "timestamp")
    yield from with_fields(fields, drafts)


def _whole_messages(file: TraceFile) -> Iterator[dict[str, Any]]:
    """The lines, where the pieces of one message are one."""
    open_line: dict[str, Any] | None = None
    for record in file.records(_prefix(file.shape), noted=False):
        is_piece = record.get("type") == "message" and bool(record.get("delta"))
        if open_line is not None and is_piece and open_line.get("role") == record.get("role"):
            open_line["content"] = str(open_line.get("content") or "") + str(record.get("content") or "")
            continue
        if open_line is not None:
            yield open_line
        open_line = dict(record) if is_piece else None
        if open_line is None:
            yield record
    if open_line is not None:
        yield open_line


def _line(record: dict[str, Any]) -> list[EventDraft]:
    kind, failed = record.get("type"), record.get("status") == "error"
    reason = labelled_text({"error": record.get("error")})
    if kind == "message":
        return [EventDraft("message", str(record.get("role")), content_text(record.get("content"))[0])]
    if kind == "tool_use":
        name, call_id = record.get("tool_name"), record.get("tool_id")
        return [EventDraft("call", "assistant", argument_text(record.get("parameters")), name, call_id)]
    if kind == "tool_result":
        text = "\n".join(filter(None, (content_text(record.get("output"))[0], reason)))
        text = text or "[the stream holds no output of this call]"
        return [EventDraft("result", "tool", text, call_id=record.get("tool_id"), error=failed)]
    if kind == "error" or reason:
        return [EventDraft("message", "system", "\n".join(filter(None, (record.get("message"), reason))))]
    return []


FORMATS.register("gemini-cli")(TraceFormat("a session of Gemini CLI, or its stream-json", _recognises, _read, 1))
