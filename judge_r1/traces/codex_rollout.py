"""Rollouts of Codex (`~/.codex/sessions/…/rollout-….jsonl`): the items of the Responses API in `response_item`.

`event_msg` repeats what the items hold; a text that they lack is an event. The exit code of a command marks its result.
Lines that hold no event stand in the meta of the trace as `other_lines`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from judge_r1.traces.base import FORMATS, Shape, TraceFile, TraceFormat
from judge_r1.traces.chat_messages import with_fields
from judge_r1.traces.content import content_text, record_time
from judge_r1.traces.openai_responses import item_events
from judge_r1.traces.trace import EventDraft

_LINES = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_SPOKEN = {
    "user_message": ("message", "user", "message"), "agent_message": ("message", "assistant", "message"),
    "agent_reasoning": ("thought", "assistant", "text"),
    "agent_reasoning_raw_content": ("thought", "assistant", "text"), "error": ("message", "system", "message"),
    "stream_error": ("message", "system", "message"), "warning": ("message", "system", "message"),
}  # fmt: skip
_FAILED = re.compile(r"\A(?:.*\n){0,5}?(?:Exit code:|Process exited with code) -?[1-9]")


def _recognises(shape: Shape) -> bool:
    return shape.has("payload.type") and bool(shape.values("type") & _LINES)


def _read(file: TraceFile) -> Iterator[EventDraft]:
    records = list(file.records("", noted=False))
    drafts = []
    for number, record in enumerate(records, 1):
        drafts.append(own := list(_events(record, f"{file.path}, line {number}")))
        if record.get("type") == "response_item":
            file.unread.note(record, f"line {number}")
            file.unread.show(*own)
    rest = [record for record in records if record.get("type") != "response_item"]
    file.unread.note(rest, "another line", refuses=False, beside=True)
    items = Counter(
        draft.text
        for record, own in zip(records, drafts, strict=True)
        if record.get("type") != "event_msg"
        for draft in own
    )
    kept: list[EventDraft] = []
    other = []
    for record, own in zip(records, drafts, strict=True):
        if not own:
            other.append(record)
        for draft in own:
            if record.get("type") == "event_msg" and items[draft.text] > 0:
                items[draft.text] -= 1
            else:
                kept.append(draft)
    yield from with_fields({"other_lines": other} if other else {}, kept)


def _events(record: Any, where: str) -> Iterator[EventDraft]:
    kind, payload, time = record.get("type"), record.get("payload"), record_time(record)
    if not isinstance(payload, dict):
        return
    if kind == "response_item":
        for draft in item_events(payload, where):
            draft = _with_exit_code(draft) if draft.kind == "result" else draft
            yield draft._replace(time=draft.time or time)
    elif kind == "event_msg" and payload.get("type") in _SPOKEN:
        event, role, name = _SPOKEN[payload["type"]]
        if isinstance(text := payload.get(name), str) and text:
            yield EventDraft("thought" if event == "thought" else "message", role, text, time=time)
    elif kind == "compacted" and payload.get("message"):
        yield EventDraft("message", "system", content_text(payload["message"])[0], time=time)
    elif kind == "session_meta" and payload.get("instructions"):
        meta = {name: value for name, value in payload.items() if name != "instructions"}
        yield EventDraft("message", "system", content_text(payload["instructions"])[0], time=time, meta=meta)


def _with_exit_code(draft: EventDraft) -> EventDraft:
    """A result whose text is JSON with the output and the exit code, or begins with the code."""
    try:
        value = json.loads(draft.text)
    except (ValueError, RecursionError):
        return draft._replace(error=draft.error or bool(_FAILED.match(draft.text)))
    if not isinstance(value, dict) or not isinstance(value.get("output"), str):
        return draft
    about = value.get("metadata")
    failed = isinstance(about, dict) and about.get("exit_code") not in (0, None)
    rest = {name: own for name, own in value.items() if name != "output"}
    return draft._replace(text=value["output"], error=draft.error or failed, meta={**draft.meta, **rest})


FORMATS.register("codex")(TraceFormat("a rollout of Codex", _recognises, _read, 1))
