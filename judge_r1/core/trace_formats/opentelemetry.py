"""OpenTelemetry spans with the attributes of the GenAI conventions: OTLP as JSON, one export or one a line, and spans
as the console exporter of Python prints them.

A span of a model call repeats the conversation so far: a message is an event where it first occurs. Spans arrive in the
order of their ends, so they are sorted by their start. Spans without GenAI attributes are counted in `meta`.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import counted
from judge_r1.core.trace import EventDraft, argument_text, json_text
from judge_r1.core.trace_formats.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat
from judge_r1.core.trace_formats.chat_messages import message_events, with_fields
from judge_r1.core.trace_formats.content import content_text, other_parts

_OTLP = "resourceSpans.item.scopeSpans.item.spans.item"
_INPUT, _OUTPUT, _SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_OLD_EVENTS = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool", "gen_ai.choice": "assistant",
}  # fmt: skip
"""Events of a span that hold one message each, before version 1.37 of the conventions."""


def _recognises(shape: Shape) -> bool:
    return shape.has(f"{_OTLP}.spanId") or shape.has("context.span_id", "attributes")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    path = _OTLP if file.shape.has(f"{_OTLP}.spanId") else ""
    spans: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    other: Counter[str] = Counter()
    for record in file.records(path, together=True, noted=False):
        trace, start, attributes = _span(record)
        spans.setdefault(trace, [])
        if any(name.startswith("gen_ai.") for name in attributes):
            file.unread.note(attributes, f"span {record.get('name')}")
            spans[trace].append((start, attributes))
        else:
            other[trace] += 1
    traces = [trace for trace, found in spans.items() if found]
    if file.number is None and len(traces) > 1:
        raise BadTrace(f"{file.path} holds {len(traces)} traces: choose one by its number, from 1 (--number 1)")
    if not 0 < (number := file.number or 1) <= len(traces):
        raise BadTrace(
            f"{file.path} holds {counted(len(traces), 'trace')} with GenAI spans: there is no number {number}"
        )
    trace = traces[number - 1]
    fields = {"trace_id": trace} | ({"other_spans": other[trace]} if other[trace] else {})
    reader = _Conversation(str(file.path))
    ordered = sorted(spans[trace], key=lambda span: span[0])
    yield from with_fields(fields, (draft for start, span in ordered for draft in reader.events(span, _time(start))))


def _span(record: dict[str, Any]) -> tuple[str, int, dict[str, Any]]:
    """The trace of a span, its start in nanoseconds, and its attributes with those of its events."""
    attributes = _attributes(record.get("attributes"))
    messages = []
    for event in record.get("events") or ():
        own = _attributes(event.get("attributes"))
        if (name := event.get("name")) in _OLD_EVENTS:
            messages.append({"role": _OLD_EVENTS[name], **_old_message(own)})
        elif str(name).startswith("gen_ai."):
            attributes |= own
        elif name == "exception":
            attributes["exception"] = own
    if messages:
        attributes["gen_ai.messages"] = messages
    status = record.get("status") or {}
    if status.get("code") in (2, "STATUS_CODE_ERROR") or status.get("status_code") == "ERROR":
        attributes["status"] = {"status_code": "ERROR", "message": status.get("description") or status.get("message")}
    attributes["span"] = record.get("name")
    context = record.get("context") or {}
    start = record.get("startTimeUnixNano") or _nanoseconds(record.get("start_time"))
    return str(record.get("traceId") or context.get("trace_id")), int(start or 0), attributes


def _attributes(given: Any) -> dict[str, Any]:
    """Attributes by name: a mapping, or OTLP's list of keys with typed values."""
    if isinstance(given, dict):
        return dict(given)
    return {one["key"]: _value(one.get("value")) for one in given or () if isinstance(one, dict) and "key" in one}


def _value(value: Any) -> Any:
    if not isinstance(value, dict) or len(value) != 1:
        return value
    [(kind, inner)] = value.items()
    if kind == "arrayValue":
        return [_value(one) for one in inner.get("values", ())]
    if kind == "kvlistValue":
        return _attributes(inner.get("values"))
    return int(inner) if kind == "intValue" else inner


def _nanoseconds(time: Any) -> int:
    if not isinstance(time, str):
        return 0
    return int(datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1e9)


def _time(nanoseconds: int) -> str | None:
    if not nanoseconds:
        return None
    return datetime.fromtimestamp(nanoseconds / 1e9, timezone.utc).isoformat(timespec="milliseconds")


def _parsed(value: Any) -> Any:
    """A structured attribute: as it is, or as JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _old_message(own: Mapping[str, Any]) -> dict[str, Any]:
    message = _parsed(own.get("message"))
    own = {**own, **message} if isinstance(message, dict) else own
    named = {"content": _parsed(own.get("content")), "tool_calls": _parsed(own.get("tool_calls")),
             "tool_call_id": own.get("id"), "name": own.get("name")}  # fmt: skip
    return {name: value for name, value in named.items() if value is not None}


def _flat_messages(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Messages in attributes such as `gen_ai.prompt.0.content`, as OpenLLMetry writes them."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(f"{prefix}."):
            *way, last = name.removeprefix(f"{prefix}.").split(".")
            place = tree
            for key in way:
                place = place.setdefault(key, {})
            place[last] = value
    found = []
    for number in sorted((key for key in tree if key.isdecimal()), key=int):
        message = dict(tree[number])
        calls = message.pop("tool_calls", None)
        if isinstance(calls, dict):
            message["tool_calls"] = [calls[key] for key in sorted(calls)]
        found.append({"role": "assistant", **message})
    return found


class _Conversation:
    """Turns spans into events, each message and each call once."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._emitted: Counter[str] = Counter()
        self._calls: set[str] = set()
        self._results: set[str] = set()
        self._silent: list[dict[str, Any]] = []  # spans without an event of their own, for the next event

    def events(self, span: dict[str, Any], time: str | None) -> Iterator[EventDraft]:
        rest = dict(span)
        texts = [rest.pop(name, None) for name in (_SYSTEM, _INPUT, _OUTPUT)]
        system, given, answered = map(_parsed, texts)
        messages = [{"role": "system", "parts": system if isinstance(system, list) else [system]}] if system else []
        for found in (given, rest.pop("gen_ai.messages", None), answered):
            messages += found if isinstance(found, list) else [{"role": "user", "content": found}] if found else []
        for prefix in ("gen_ai.prompt", "gen_ai.completion"):
            messages += _flat_messages(rest, prefix)
            rest = {name: value for name, value in rest.items() if not name.startswith(f"{prefix}.")}
        drafts = list(self._new(messages))
        if rest.get("gen_ai.operation.name") == "execute_tool" or "gen_ai.tool.call.result" in rest:
            drafts += self._tool(rest)
        if not drafts:
            self._silent.append(rest)
        for draft in drafts:
            silent = {"spans": self._silent} if self._silent else {}
            yield draft._replace(time=draft.time or time, meta={**draft.meta, **rest, **silent})
            rest, self._silent = {}, []

    def _new(self, messages: list[Any]) -> Iterator[EventDraft]:
        """The events of the messages that no earlier span has shown."""
        seen: Counter[str] = Counter()
        for message in messages:
            drafts = _message(message, self._where)
            # exporters write the parts of one message in different orders as output and as input of the next call
            digest = content_hash(
                sorted([draft.kind, draft.role, draft.text, str(draft.call_id or "")] for draft in drafts)
            )
            seen[digest] += 1
            if seen[digest] <= self._emitted[digest]:
                continue
            self._emitted[digest] += 1
            yield from (draft for draft in drafts if self._first(draft))

    def _tool(self, rest: dict[str, Any]) -> Iterator[EventDraft]:
        tool, call_id = rest.pop("gen_ai.tool.name", None), rest.pop("gen_ai.tool.call.id", None)
        arguments, result = (_parsed(rest.pop(f"gen_ai.tool.call.{name}", None)) for name in ("arguments", "result"))
        failed = "status" in rest or "error.type" in rest
        reason = rest.get("status", {}).get("message")
        text = "\n".join(dict.fromkeys(part for part in (_text(result), reason) if part))
        call = EventDraft("call", "assistant", argument_text(arguments), tool, call_id)
        answer = EventDraft("result", "tool", text, tool, call_id, failed)
        yield from (draft for draft in (call, answer) if self._first(draft))

    def _first(self, draft: EventDraft) -> bool:
        """Whether a call or its result is not known from another span."""
        known = self._calls if draft.kind == "call" else self._results if draft.kind == "result" else None
        if known is None or not draft.call_id:
            return True
        is_new = str(draft.call_id) not in known
        known.add(str(draft.call_id))
        return is_new


def _message(message: Any, where: str) -> list[EventDraft]:
    """The events of a message: with `parts` as the conventions have it, or as in a chat API."""
    if not isinstance(message, dict) or not isinstance(message.get("parts"), list):
        return list(message_events(message, where))
    role, drafts = str(message.get("role", "assistant")), []
    for part in message["parts"]:
        kind, own = (part.get("type"), part) if isinstance(part, dict) else ("text", {"content": part})
        if kind == "tool_call":
            drafts.append(EventDraft("call", role, argument_text(own.get("arguments")), own.get("name"), own.get("id")))
        elif kind == "tool_call_response":
            result = own.get("response", own.get("result"))
            drafts.append(EventDraft("result", "tool", _text(result), own.get("name"), own.get("id")))
        elif kind in ("text", "reasoning"):
            drafts.append(EventDraft("thought" if kind == "reasoning" else "message", role, _text(own.get("content"))))
        else:
            drafts.append(EventDraft("message", role, f"[{kind}]", meta=other_parts([part])))
    return drafts


def _text(value: Any) -> str:
    return content_text(value)[0] if isinstance(value, list | str | None) else json_text(value)


FORMATS.register("opentelemetry")(
    TraceFormat("OpenTelemetry spans with GenAI attributes, as JSON", _recognises, _read, 2)
)
