"""OpenTelemetry spans with the attributes of the GenAI conventions: OTLP as JSON, one export or one a line, and spans
as the console exporter of Python prints them.

A span of a model call repeats the conversation so far: a message is an event where it first occurs. Spans arrive in the
order of their ends, so they are sorted by their start. Spans without GenAI attributes are counted in `meta`.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

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


class _Span(NamedTuple):
    """A span: start and end in nanoseconds, and its attributes with those of its events."""

    id: str
    parent: str
    start: int
    end: int
    attributes: dict[str, Any]


def _recognises(shape: Shape) -> bool:
    return shape.has(f"{_OTLP}.spanId") or shape.has("context.span_id", "attributes")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    path = _OTLP if file.shape.has(f"{_OTLP}.spanId") else ""
    spans: dict[str, list[_Span]] = {}
    other: Counter[str] = Counter()
    for record in file.records(path, together=True, noted=False):
        trace, span = _span(record)
        attributes = span.attributes
        spans.setdefault(trace, [])
        if any(name.startswith("gen_ai.") for name in attributes):
            file.unread.note(attributes, f"span {record.get('name')}")
            spans[trace].append(span)
        else:
            other[trace] += 1
    _join_created(spans)
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
    yield from with_fields(fields, _in_order(reader, spans[trace]))


def _join_created(spans: dict[str, list[_Span]]) -> None:
    """Spans that create an agent stand in a trace of their own in OpenLLMetry: they join the next trace."""
    waiting: list[_Span] = []
    for found in spans.values():
        if found and all(span.attributes.get("gen_ai.operation.name") == "create_agent" for span in found):
            waiting += found
            if len(spans) > 1:
                found.clear()
        elif found:
            found += waiting
            waiting = []


def _in_order(reader: "_Conversation", spans: list[_Span]) -> Iterator[EventDraft]:
    parents = {span.parent for span in spans}
    steps = [(span.start, 0, False, span) for span in spans]
    steps += [(span.end, 1, True, span) for span in spans if span.id in parents]
    for time, _, ended, span in sorted(steps, key=lambda step: step[:2]):
        yield from reader.events(span.attributes, _time(time), parent=span.id in parents, ended=ended)


def _span(record: dict[str, Any]) -> tuple[str, _Span]:
    """The trace of a span, and the span."""
    attributes = _attributes(record.get("attributes"))
    messages = []
    for event in record.get("events") or ():
        own = _attributes(event.get("attributes"))
        if (name := event.get("name")) in _OLD_EVENTS:
            output = {"output": True} if name == "gen_ai.choice" else {}
            messages.append({"role": _OLD_EVENTS[name], **_old_message(own), **output})
        elif str(name).startswith("gen_ai."):
            for key, value in own.items():
                known, more = _parsed(attributes.get(key)), _parsed(value)
                attributes[key] = known + more if isinstance(known, list) and isinstance(more, list) else value
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
    end = record.get("endTimeUnixNano") or _nanoseconds(record.get("end_time")) or start
    span_id, parent = (
        record.get("spanId") or context.get("span_id"),
        record.get("parentSpanId", record.get("parent_id")),
    )
    span = _Span(str(span_id), str(parent), int(start or 0), int(end or 0), attributes)
    return str(record.get("traceId") or context.get("trace_id")), span


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
    if message is not None:
        own = {**own, **(message if isinstance(message, dict) else {"content": message})}
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

    def events(self, span: dict[str, Any], time: str | None, *, parent: bool, ended: bool) -> Iterator[EventDraft]:
        """The events of a span. A span with children has its output at its end, and repeats that of its children."""
        rest = dict(span)
        texts = [rest.pop(name, None) for name in (_SYSTEM, _INPUT, _OUTPUT)]
        system, given, answered = map(_parsed, texts)
        messages = [{"role": "system", "parts": system if isinstance(system, list) else [system]}] if system else []
        is_tool = rest.get("gen_ai.operation.name") == "execute_tool"
        events = rest.pop("gen_ai.messages", None) or []
        asked, said = (_parsed(rest.pop(name, None)) for name in ("gen_ai.prompt", "gen_ai.completion"))
        if is_tool:
            _tool_of_events(rest, events, asked, said)
            given = answered = None
            events = []
        else:
            given, answered = given or _messages_in(asked), answered or _messages_in(said)
        for found in (given, [one for one in events if not one.get("output")]):
            messages += found if isinstance(found, list) else [{"role": "user", "content": found}] if found else []
        outputs = answered if isinstance(answered, list) else [{"role": "assistant", "content": answered}]
        outputs = (outputs if answered else []) + [one for one in events if one.get("output")]
        for prefix in ("gen_ai.prompt", "gen_ai.completion"):
            messages += _flat_messages(rest, prefix)
            rest = {name: value for name, value in rest.items() if not name.startswith(f"{prefix}.")}
        if parent:
            drafts = list(self._new([*messages, *outputs] if ended else [m for m in messages if _is_task(m)]))
        else:
            drafts = [*self._new(messages), *self._new(outputs, always=True)]
        if is_tool or "gen_ai.tool.call.result" in rest:
            drafts += self._tool(rest)
        if not drafts:
            self._silent.append(rest)
        for draft in drafts:
            silent = {"spans": self._silent} if self._silent else {}
            yield draft._replace(time=draft.time or time, meta={**draft.meta, **rest, **silent})
            rest, self._silent = {}, []

    def _new(self, messages: list[Any], *, always: bool = False) -> Iterator[EventDraft]:
        """The events of the messages that no earlier span has shown. The output of a call is `always` new."""
        seen: Counter[str] = Counter()
        for message in messages:
            drafts = _message(message, self._where)
            # exporters write the parts of one message in different orders as output and as input of the next call
            digest = content_hash(
                sorted([draft.kind, draft.role, draft.text.strip(), str(draft.call_id or "")] for draft in drafts)
            )
            seen[digest] += 1
            if not always and seen[digest] <= self._emitted[digest]:
                continue
            self._emitted[digest] += 1
            yield from (draft for draft in drafts if self._first(draft))

    def _tool(self, rest: dict[str, Any]) -> Iterator[EventDraft]:
        tool, call_id = rest.pop("gen_ai.tool.name", None), rest.pop("gen_ai.tool.call.id", None)
        arguments, result = (_parsed(rest.pop(f"gen_ai.tool.call.{name}", None)) for name in ("arguments", "result"))
        forms: list[str] = []
        if isinstance(arguments, dict) and "input_str" in arguments:  # LangChain's call of a tool
            forms.append(str(arguments["input_str"]))
            arguments = arguments.get("inputs") or arguments["input_str"]
        if isinstance(result, dict) and isinstance(output := result.get("output"), dict) and "kwargs" in output:
            call_id, result = call_id or output["kwargs"].get("tool_call_id"), output["kwargs"].get("content")
        failed = "status" in rest or "error.type" in rest
        reason = rest.get("status", {}).get("message")
        text = "\n".join(dict.fromkeys(part for part in (_text(result), reason) if part))
        call = EventDraft("call", "assistant", argument_text(arguments), tool, call_id, forms=forms)
        answer = EventDraft("result", "tool", text, tool, call_id, failed, forms=forms)
        yield from (draft for draft in (call, answer) if self._first(draft))

    def _first(self, draft: EventDraft) -> bool:
        """Whether a call or its result is not known from another span."""
        known = self._calls if draft.kind == "call" else self._results if draft.kind == "result" else None
        if known is None or not draft.call_id:
            return True
        is_new = str(draft.call_id) not in known
        known.add(str(draft.call_id))
        return is_new


def _is_task(message: Any) -> bool:
    """Whether a message stands before all that an agent does: instructions and the task, without results."""
    parts = message.get("parts") or message.get("content") if isinstance(message, dict) else None
    kinds = {str(part.get("type")) for part in parts if isinstance(part, dict)} if isinstance(parts, list) else set()
    return isinstance(message, dict) and message.get("role") in ("system", "user") and kinds <= {"text", "None"}


def _messages_in(value: Any) -> Any:
    """The messages of the JSON in `gen_ai.prompt` or `gen_ai.completion`, as LangSmith writes it."""
    if not isinstance(value, dict):
        return value
    return value.get("messages") or ([value] if "role" in value else None)


def _tool_of_events(rest: dict[str, Any], events: list[Any], asked: Any, said: Any) -> None:
    """Sets arguments and result of a tool's span from its events, whose tool message is the call, or from JSON."""
    found = {"arguments": asked, "result": said.get("output", said) if isinstance(said, dict) else said}
    for one in events:
        found["result" if one.get("output") else "arguments"] = one.get("content")
    for name, value in found.items():
        if value is not None:
            rest.setdefault(f"gen_ai.tool.call.{name}", value)


def _message(message: Any, where: str) -> list[EventDraft]:
    """The events of a message: with `parts` as the conventions have it, or as in a chat API."""
    if isinstance(message, dict):
        message = {name: value for name, value in message.items() if name != "output"}
        if isinstance(content := message.get("content"), list) and any(map(_is_block, content)):
            message = {"role": message.get("role"), "parts": [_block(one) for one in content]}
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
        elif kind in ("text", "reasoning", "thinking"):
            drafts.append(
                EventDraft("message" if kind == "text" else "thought", role, _text(own.get("content", own.get("text"))))
            )
        else:
            drafts.append(EventDraft("message", role, f"[{kind}]", meta=other_parts([part])))
    return drafts


def _is_block(part: Any) -> bool:
    return isinstance(part, dict) and bool({"text", "toolUse", "toolResult"} & part.keys()) and "type" not in part


def _block(part: Any) -> Any:
    """A block of Bedrock's Converse API as a part of the conventions."""
    if not _is_block(part):
        return part
    if use := part.get("toolUse"):
        return {"type": "tool_call", "name": use.get("name"), "id": use.get("toolUseId"), "arguments": use.get("input")}
    if result := part.get("toolResult"):
        return {"type": "tool_call_response", "id": result.get("toolUseId"), "response": result.get("content")}
    return {"type": "text", "content": part["text"]}


def _text(value: Any) -> str:
    if isinstance(value, list) and any(map(_is_block, value)):
        value = [one["text"] if _is_block(one) and "text" in one else one for one in value]
    return content_text(value)[0] if isinstance(value, list | str | None) else json_text(value)


FORMATS.register("opentelemetry")(
    TraceFormat("OpenTelemetry spans with GenAI attributes, as JSON", _recognises, _read, 2)
)
