"""Traces of Langfuse with their observations: a trace as its API returns it, or a list of observations.

A generation repeats the conversation so far: a message is an event where it first occurs, and an output is always new.
Other observations without children are a call and its result. Texts of `metadata` that no event has only count as
unread.
"""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from judge_r1.traces.base import FORMATS, Shape, TraceFile, TraceFormat, without
from judge_r1.traces.chat_messages import with_fields
from judge_r1.traces.content import content_text
from judge_r1.traces.openai_responses import item_events
from judge_r1.traces.otel_spans import nanoseconds
from judge_r1.traces.trace import EventDraft, argument_text

_LISTS = ("observations.item", "item")
_CONTENTS, _SETTINGS = ("input", "output"), ("metadata", "modelParameters", "environment")
_HELD = ("messages", "choices")


def _path(shape: Shape) -> str | None:
    return next((one for one in _LISTS if shape.has(f"{one}.startTime", f"{one}.type", f"{one}.id")), None)


def _read(file: TraceFile) -> Iterator[EventDraft]:
    path = str(_path(file.shape))
    records = [record for record in file.records(path, noted=False) if isinstance(record, dict)]
    records.sort(key=lambda record: nanoseconds(record.get("startTime")))
    fields = file.fields("observations", "metadata") if path != "item" else {}
    drafts = list(_Observations(file, records).drafts())
    said = [draft for draft in drafts if draft.kind == "message"]
    for name, role in (("input", "user"), ("output", "assistant")):
        for draft in _messages(fields.pop(name, None), role, f"{file.path}, trace"):
            if not any(draft.text.strip() == one.text.strip() for one in said):
                drafts = [draft, *drafts] if name == "input" else [*drafts, draft]
    yield from with_fields(fields, drafts)


class _Observations:
    """Turns observations, in order of their starts, into events."""

    def __init__(self, file: TraceFile, records: list[dict[str, Any]]) -> None:
        self._file, self._records = file, records
        self._parents = {record.get("parentObservationId") for record in records}
        self._emitted: Counter[tuple[str, str]] = Counter()

    def drafts(self) -> Iterator[EventDraft]:
        for number, record in enumerate(self._records):
            where, time = f"observation {number}", record.get("startTime")
            is_parent = record.get("type") != "GENERATION" and record.get("id") in self._parents
            found = [] if is_parent else list(self._events(record, f"{self._file.path}, {where}"))
            self._file.unread.note({name: record.get(name) for name in _CONTENTS}, where, beside=True)
            self._file.unread.note(without(record, *_CONTENTS, *_SETTINGS), where)
            self._file.unread.note({name: record.get(name) for name in _SETTINGS}, where, refuses=False)
            self._file.unread.show(*found)
            yield from (draft._replace(time=draft.time or time) for draft in found)

    def _events(self, record: dict[str, Any], where: str) -> Iterator[EventDraft]:
        failed, reason = record.get("level") == "ERROR", record.get("statusMessage")
        given, answered = _parsed(record.get("input")), _parsed(record.get("output"))
        if record.get("type") == "GENERATION":
            yield from self._new(_messages(given, "user", where))
            yield from self._new(_messages(answered, "assistant", where), always=True)
            if reason:
                yield EventDraft("message", "system", str(reason))
            return
        name, call_id = str(record.get("name")), record.get("id")
        call = EventDraft("call", "assistant", argument_text(given), name, call_id)
        text = "\n".join(filter(None, (content_text(answered)[0], str(reason or ""))))
        yield from self._new(iter([call]))
        yield from self._new(iter([EventDraft("result", "tool", text, name, call_id, failed)]), always=True)

    def _new(self, drafts: Iterator[EventDraft], *, always: bool = False) -> Iterator[EventDraft]:
        """The drafts that no earlier observation has shown, and all of an output, which is `always` new."""
        seen: Counter[tuple[str, str]] = Counter()
        for draft in drafts:
            key = (f"{draft.kind} {draft.tool}" if draft.kind == "call" else draft.kind, draft.text.strip())
            seen[key] += 1
            if always or seen[key] > self._emitted[key]:
                self._emitted[key] += 1
                yield draft


def _messages(value: Any, role: str, where: str) -> Iterator[EventDraft]:
    """The events of the input or the output of a generation: messages, items, a completion, or a text."""
    value = _parsed(value)
    held = [value[name] for name in _HELD if isinstance(value.get(name), list)] if isinstance(value, dict) else []
    value = [one.get("message", one) if isinstance(one, dict) else one for one in held[0]] if held else value
    for one in value if isinstance(value, list) else [] if value in (None, "") else [value]:
        if isinstance(one, dict) and ("role" in one or "type" in one):
            yield from item_events(one, where)
        else:
            yield EventDraft("message", role, content_text(one)[0])


def _parsed(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) and value[:1] in "[{" else value
    except (ValueError, RecursionError):
        return value


FORMATS.register("langfuse")(
    TraceFormat("a trace of Langfuse with its observations", lambda shape: _path(shape) is not None, _read, 2)
)
