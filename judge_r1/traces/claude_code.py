"""Claude Code: the file of a session (`~/.claude/projects/…/SESSION.jsonl`), and the output of `--output-format
stream-json`, in the order of their lines.

Events of sub-agents (`isSidechain`, `parent_tool_use_id`) are marked as such. A queued message is the user's. Lines
that hold no event, such as summaries and snapshots, stand in the meta of the trace as `other_lines`.
"""

from collections.abc import Iterator
from typing import Any

from judge_r1.traces.base import FORMATS, Shape, TraceFile, TraceFormat, of_sub_agent, without
from judge_r1.traces.chat_messages import message_events, with_fields
from judge_r1.traces.content import content_text, record_time
from judge_r1.traces.trace import EventDraft

_SPOKEN = {"user", "assistant"}
_KEPT = ("cwd", "version", "gitBranch", "toolUseResult")


def _prefix(shape: Shape) -> str:
    return "item" if shape.has("item.message.role") else ""


def _recognises(shape: Shape) -> bool:
    prefix = f"{_prefix(shape)}.".lstrip(".")
    named = any(shape.has(f"{prefix}{name}") for name in ("sessionId", "session_id"))
    return named and shape.has(f"{prefix}message.role") and bool(shape.values(f"{prefix}type") & _SPOKEN)


def _read(file: TraceFile) -> Iterator[EventDraft]:
    drafts: list[EventDraft] = []
    other: list[Any] = []
    beside: list[Any] = []
    for number, record in enumerate(_whole_messages(file)):
        found = list(_events(record, f"{file.path}, record {number}", drafts))
        message = record.get("message") if isinstance(record, dict) else None
        file.unread.note(message, f"record {number}")
        file.unread.show(*found)
        beside.append(without(record, "message") if isinstance(message, dict) else record)
        drafts += found
        if not found:
            other.append(record)
    file.unread.note(beside, "beside the messages", refuses=False, beside=True)
    yield from with_fields({"other_lines": other} if other else {}, drafts)


def _whole_messages(file: TraceFile) -> Iterator[Any]:
    """The lines, where those that follow each other with parts of one message are one. A repeated line is left out."""
    open_line: dict[str, Any] | None = None
    seen: set[str] = set()
    for record in file.records(_prefix(file.shape), noted=False):
        message = record.get("message") if isinstance(record, dict) else None
        if isinstance(record, dict) and isinstance(uuid := record.get("uuid"), str):
            if uuid in seen:
                continue
            seen.add(uuid)
        if open_line is not None and _continues(open_line["message"], message):
            open_line["message"]["content"] += message["content"]  # type: ignore[index]
            continue
        if open_line is not None:
            yield open_line
        open_line = None
        if isinstance(message, dict) and message.get("id") and isinstance(message.get("content"), list):
            open_line = record
        else:
            yield record
    if open_line is not None:
        yield open_line


def _continues(first: dict[str, Any], message: Any) -> bool:
    return isinstance(message, dict) and message.get("id") == first["id"] and isinstance(message.get("content"), list)


def _events(record: Any, where: str, before: list[EventDraft]) -> Iterator[EventDraft]:
    kind, time = record.get("type"), record_time(record)
    nested = (record.get("data") or {}).get("message") if kind == "progress" else None
    if isinstance(nested, dict) and isinstance(nested.get("message"), dict):
        record, kind = {**nested, "isSidechain": True}, nested.get("type")
    if kind in _SPOKEN and isinstance(message := record.get("message"), dict):
        sidechain = bool(record.get("isSidechain") or record.get("parent_tool_use_id"))
        meta = {name: record[name] for name in _KEPT if record.get(name)}
        for draft in message_events(without(message, "id", "type", "usage", "stop_reason", "stop_sequence"), where):
            draft = draft._replace(time=draft.time or time, meta={**draft.meta, **meta})
            yield of_sub_agent(draft) if sidechain else draft
            meta = {}
        return
    attachment = record.get("attachment")
    queued = attachment.get("prompt") if isinstance(attachment, dict) else None
    if kind == "queue-operation":
        queued = record.get("content")
    if queued:
        yield EventDraft("message", "user", content_text(queued)[0], time=time, meta={"queued": True})
    elif kind == "system" and record.get("content"):
        yield EventDraft("message", "system", content_text(record["content"])[0], time=time)
    elif kind == "result" and isinstance(text := record.get("result"), str):
        last = next((one.text for one in reversed(before) if (one.kind, one.role) == ("message", "assistant")), "")
        if text not in last:
            yield EventDraft("message", "assistant", text, time=time, meta=without(record, "result", "usage"))


FORMATS.register("claude-code")(TraceFormat("a session of Claude Code, or its stream-json", _recognises, _read, 1))
