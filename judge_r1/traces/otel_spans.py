"""Spans of OpenTelemetry as they stand in files: OTLP as JSON, and what the console exporter of Python prints.

An exporter may have a limit for the length of attributes, and cuts what is longer. Of JSON that is cut, the values
that are there are kept. Its length is the limit: other texts of this length are cut, too.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

from pydantic_core import from_json

from judge_r1.traces.accounting import texts_of
from judge_r1.traces.openinference import KIND, as_gen_ai

CUT = " [cut by the exporter]"
"""What a text ends with that an exporter has cut."""
_SHORTEST = 32
_OLD_EVENTS = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user", "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool", "gen_ai.choice": "assistant",
}  # fmt: skip
"""Events of a span that hold one message each, before version 1.37 of the conventions."""


class Span(NamedTuple):
    """A span: start and end in nanoseconds, its attributes with those of its events, and the names of the cut ones."""

    id: str
    parent: str
    start: int
    end: int
    attributes: dict[str, Any]
    cut: Collection[str]


def cut_lengths(record: Mapping[str, Any]) -> Iterator[int]:
    """The lengths of the attributes of a span that are the start of JSON."""
    for owner in (record, *(record.get("events") or ())):
        texts = [value for value in _attributes(owner.get("attributes")).values() if isinstance(value, str)]
        yield from (len(text) for text in texts if _kept(text))


def _kept(text: str, shortest: int = _SHORTEST) -> Any:
    """What the start of JSON holds; None for whole JSON and for other texts."""
    if len(text) < shortest or _is_json(text) is not False:
        return None
    try:
        return from_json(text, allow_partial="trailing-strings")
    except ValueError:
        return None


def _is_json(text: str) -> bool | None:
    """Whether a text is a whole list or object; None if it does not begin like one."""
    if text[:1] not in ("[", "{"):
        return None
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _marked(value: Any, key: str) -> Any:
    """A value whose end is missing, with the mark in its last text, and without an object that has only begun."""
    if isinstance(value, list) and value:
        last = _marked(value[-1], key)
        begun = last == [] or (isinstance(last, dict) and last.keys() <= {"role", "type"})
        return [*value[:-1], *([] if begun else [last])]
    if isinstance(value, dict) and value:
        name = next(reversed(value))
        return {**value, name: _marked(value[name], name)}
    if not isinstance(value, str) or _is_json(value) or not list(texts_of(value, key)):
        return value
    kept = _kept(value, 1)
    if kept is None:
        return value + CUT
    return json.dumps(_marked(kept, key), ensure_ascii=False) if kept else CUT.strip()


def span_of(record: dict[str, Any], limits: Collection[int], path: str) -> tuple[str, Span]:
    """The trace of a span, and the span. Attributes whose length is one of the `limits` are cut. Raises: BadTrace."""
    cut: list[str] = []

    def own(given: Any) -> dict[str, Any]:
        found = _attributes(given)
        for key, value in found.items():
            if isinstance(value, str) and len(value) in limits and (marked := _marked(value, key)) != value:
                cut.append(key)
                found[key] = marked
        return found

    attributes, messages = own(record.get("attributes")), []
    if KIND in attributes:
        attributes = as_gen_ai(attributes, f"{path}, span {record.get('name')}")
    for event in record.get("events") or ():
        fields = own(event.get("attributes"))
        if (name := event.get("name")) in _OLD_EVENTS:
            output = {"output": True} if name == "gen_ai.choice" else {}
            messages.append({"role": _OLD_EVENTS[name], **_old_message(fields), **output})
        elif str(name).startswith("gen_ai."):
            for key, value in fields.items():
                known, more = parsed(attributes.get(key)), parsed(value)
                attributes[key] = known + more if isinstance(known, list) and isinstance(more, list) else value
        elif name == "exception":
            attributes["exception"] = fields
    if messages:
        attributes["gen_ai.messages"] = messages
    status = record.get("status") or {}
    if status.get("code") in (2, "STATUS_CODE_ERROR") or status.get("status_code") == "ERROR":
        attributes["status"] = {"status_code": "ERROR", "message": status.get("description") or status.get("message")}
    attributes["span"] = record.get("name")
    context = record.get("context") or {}
    start = record.get("startTimeUnixNano") or nanoseconds(record.get("start_time"))
    end = record.get("endTimeUnixNano") or nanoseconds(record.get("end_time")) or start
    span_id = record.get("spanId") or context.get("span_id")
    parent = record.get("parentSpanId", record.get("parent_id"))
    span = Span(str(span_id), str(parent), int(start or 0), int(end or 0), attributes, cut)
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


def nanoseconds(time: Any) -> int:
    if not isinstance(time, str) or not time.strip():
        return 0
    time = re.sub(r"\.(\d+)", lambda found: f".{found[1]:0<6.6}", time)  # Python 3.10 reads 3 or 6 digits alone
    return int(datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp() * 1e9)


def time_of(nanoseconds: int) -> str | None:
    if not nanoseconds:
        return None
    return datetime.fromtimestamp(nanoseconds / 1e9, timezone.utc).isoformat(timespec="milliseconds")


def parsed(value: Any) -> Any:
    """A structured attribute: as it is, or as JSON in a text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _old_message(own: Mapping[str, Any]) -> dict[str, Any]:
    message = parsed(own.get("message"))
    if message is not None:
        own = {**own, **(message if isinstance(message, dict) else {"content": message})}
    named = {"content": parsed(own.get("content")), "tool_calls": parsed(own.get("tool_calls")),
             "tool_call_id": own.get("id"), "name": own.get("name")}  # fmt: skip
    return {name: value for name, value in named.items() if value is not None}
