"""OpenTelemetry spans with the attributes of the GenAI conventions: OTLP as JSON, one export or one a line, and spans
as the console exporter of Python prints them.

A span of a model call repeats the conversation so far: a message is an event where it first occurs. Spans arrive in the
order of their ends, so they are sorted by their start. Spans without GenAI attributes are counted in `meta`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from judge_r1.core.record_base import content_hash
from judge_r1.core.text_check import counted
from judge_r1.traces.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat
from judge_r1.traces.chat_messages import with_fields
from judge_r1.traces.openinference import VALUES
from judge_r1.traces.otel_messages import (
    flat_messages,
    message_drafts,
    messages_in,
    tool_of_events,
    value_text,
)
from judge_r1.traces.otel_spans import Span, cut_lengths, parsed, span_of, time_of
from judge_r1.traces.trace import EventDraft, argument_text

_OTLP = "resourceSpans.item.scopeSpans.item.spans.item"
_INPUT, _OUTPUT, _SYSTEM = "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"
_ROOTS = {"", "None", "0" * 16}
"""The parent of a span that has none."""
_WRITERS = ("langsmith.", "traceloop.", "openinference.", "logfire.")
"""What the attributes of a writer begin with. Two of them may trace one agent: their spans of a call overlap."""
_KEEP = {
    "traceloop.": "TRACELOOP_TRACE_CONTENT=true", "logfire.": "InstrumentationSettings(include_content=True)",
    "langsmith.": "LANGSMITH_HIDE_INPUTS=false and LANGSMITH_HIDE_OUTPUTS=false",
    "openinference.": "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false",
    "": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY and "
        "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental (=true where a writer has no such modes)",
}  # fmt: skip
"""The options by which writers keep contents, by the start of an attribute that only they write."""


def _recognises(shape: Shape) -> bool:
    return shape.has(f"{_OTLP}.spanId") or shape.has("context.span_id", "attributes")


def _read(file: TraceFile) -> Iterator[EventDraft]:
    path = _OTLP if file.shape.has(f"{_OTLP}.spanId") else ""
    spans: dict[str, list[Span]] = {}
    known: dict[str, dict[str, Span]] = {}
    other: Counter[str] = Counter()
    records = list(file.records(path, together=True, noted=False))
    limits = {length for record in records for length in cut_lengths(record)}
    for record in records:
        trace, span = span_of(record, limits, str(file.path))
        spans.setdefault(trace, [])
        known.setdefault(trace, {})[span.id] = span
        if any(name.startswith("gen_ai.") for name in span.attributes):
            spans[trace].append(span)
        else:
            other[trace] += 1
    _join_created(spans)
    trace = file.chosen([trace for trace, found in spans.items() if found], "trace", " with GenAI spans")
    if lost := {span.parent for span in spans[trace]} - known[trace].keys() - _ROOTS:
        file.unread.notes.append(
            f"{file.path}: the file lacks {counted(len(lost), 'span')} to which others belong: the run ended early, "
            "spans were dropped, or another file has them"
        )
    for span in spans[trace]:
        where = f"span {span.attributes['span']}"
        for name in span.cut:
            file.unread.lose(
                f"{file.path}, {where}: the exporter has cut the attribute {name!r} at its limit: raise "
                "OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT for the writer, or read what is there with --allow-unread"
            )
        file.unread.note(span.attributes, where)
    fields = {"trace_id": trace} | ({"other_spans": other[trace]} if other[trace] else {})
    reader = _Conversation(str(file.path))
    ordered = _in_order(reader, _without_skew(spans[trace], known[trace]), _parents(spans[trace], known[trace]))
    drafts = _with_contents(ordered, file, spans[trace])
    yield from with_fields(fields, drafts)


def _with_contents(drafts: Iterable[EventDraft], file: TraceFile, spans: list[Span]) -> Iterator[EventDraft]:
    """The events. Raises: BadTrace if none has a text, beside the instructions that the span of an agent keeps."""
    held: list[EventDraft] | None = []
    for draft in drafts:
        if held is not None:
            held.append(draft)
            if draft.role != "system" and draft.text.strip() not in ("", "{}", "[]"):
                yield from held
                held = None
        else:
            yield draft
    if held is not None:
        names = {name for span in spans for name in span.attributes}
        option = next(set_by for start, set_by in _KEEP.items() if any(name.startswith(start) for name in names))
        raise BadTrace(
            f"{file.path}: {counted(len(spans), 'span')} without the text of any message: the writer kept no contents; "
            f"set {option} for it, and run the agent again"
        )


def _join_created(spans: dict[str, list[Span]]) -> None:
    """Spans that create an agent stand in a trace of their own in OpenLLMetry: they join the next trace."""
    waiting: list[Span] = []
    for found in spans.values():
        if found and all(span.attributes.get("gen_ai.operation.name") == "create_agent" for span in found):
            waiting += found
            if len(spans) > 1:
                found.clear()
        elif found:
            found += waiting
            waiting = []


def _in_order(reader: "_Conversation", spans: list[Span], parents: set[str]) -> Iterator[EventDraft]:
    steps = [(span.start, 0, False, span) for span in spans]
    steps += [(span.end, 1, True, span) for span in spans if span.id in parents]
    for time, _, ended, span in sorted(steps, key=lambda step: step[:2]):
        yield from reader.events(span, time_of(time), parent=span.id in parents, ended=ended)


def _parents(spans: list[Span], known: dict[str, Span]) -> set[str]:
    """The spans with others below them, also where spans without GenAI attributes, such as requests, lie between."""
    own, found = {span.id for span in spans}, set[str]()
    for span in spans:
        above, seen = span.parent, set[str]()
        while above not in own and above in known and above not in seen:
            seen.add(above)
            above = known[above].parent
        found.add(above)
    return found


def _without_skew(spans: list[Span], known: dict[str, Span]) -> list[Span]:
    """No span starts before its parent: where one does, the clock of its process is behind, and it is moved with the
    spans below it. `known` are all spans of the trace."""
    moved: dict[str, int] = {}

    def move(span: Span) -> int:
        way = [span]
        while way[-1].id not in moved and (parent := known.get(way[-1].parent)) and parent not in way:
            way.append(parent)
        for one in reversed(way):
            above = known.get(one.parent)
            early = max(0, above.start - one.start) if above and above.id in moved else 0
            moved.setdefault(one.id, moved.get(one.parent, 0) + early)
        return moved[span.id]

    return [span._replace(start=span.start + (own := move(span)), end=span.end + own) for span in spans]


class _Conversation:
    """Turns spans into events, each message and each call once."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._emitted: Counter[str] = Counter()
        self._calls: set[str] = set()
        self._results: set[str] = set()
        self._asked: dict[tuple[str | None, str], list[str]] = {}  # ids of calls in messages, by tool and arguments
        self._said: dict[str, str] = {}  # results in spans of tools without the id of the call
        self._reasons: set[str] = set()  # why calls of models and agents failed
        self._outputs: list[tuple[set[str], Span, str]] = []  # writers, span and digest of an output
        self._silent: list[dict[str, Any]] = []  # spans without an event of their own, for the next event

    def events(self, span: Span, time: str | None, *, parent: bool, ended: bool) -> Iterator[EventDraft]:
        """The events of a span. A span with children has its output at its end, and repeats that of its children."""
        rest = {name: value for name, value in span.attributes.items() if name not in VALUES}
        texts = [rest.pop(name, None) for name in (_SYSTEM, _INPUT, _OUTPUT)]
        system, given, answered = map(parsed, texts)
        messages = [{"role": "system", "parts": system if isinstance(system, list) else [system]}] if system else []
        is_tool = rest.get("gen_ai.operation.name") == "execute_tool"
        events = rest.pop("gen_ai.messages", None) or []
        asked, said = (parsed(rest.pop(name, None)) for name in ("gen_ai.prompt", "gen_ai.completion"))
        if is_tool:
            tool_of_events(rest, events, asked, said)
            if answers := list(_responses(answered)):
                rest.setdefault("gen_ai.tool.call.result", answers[0] if len(answers) == 1 else answers)
            given = answered = None
            events = []
        else:
            if "status" in rest:  # of a run whose first call failed, the agent's span alone has what was asked
                given = given or parsed(rest.get("pydantic_ai.all_messages"))
            given, answered = given or messages_in(asked), answered or messages_in(said)
        for found in (given, [one for one in events if not one.get("output")]):
            messages += found if isinstance(found, list) else [{"role": "user", "content": found}] if found else []
        outputs = answered if isinstance(answered, list) else [{"role": "assistant", "content": answered}]
        outputs = (outputs if answered else []) + [one for one in events if one.get("output")]
        for prefix in ("gen_ai.prompt", "gen_ai.completion"):
            messages += flat_messages(rest, prefix)
            rest = {name: value for name, value in rest.items() if not name.startswith(f"{prefix}.")}
        if parent:
            tasks = [] if rest.get("gen_ai.operation.name") == "chain" else [m for m in messages if _is_task(m)]
            drafts = [*self._new(messages), *self._new(outputs)] if ended else list(self._new(tasks))
        else:
            drafts = [*self._new(messages), *self._new(outputs, said_in=span)]
        if is_tool or "gen_ai.tool.call.result" in rest:
            # what a sub-agent does in a tool stands between the call and the result
            call, answer = _tool(rest)
            asked = None if call.call_id else self._asked.get((call.tool, call.text))
            if asked:
                call, answer = (one._replace(call_id=asked[0]) for one in (call, answer))
            drafts += [one for one in (call, answer) if (not parent or (one is answer) == ended) and self._first(one)]
            if asked and (ended or not parent):
                self._said[asked.pop(0)] = answer.text
        elif (reason := _reason(rest)) and (not parent or (ended and reason not in self._reasons)):
            self._reasons.add(reason)
            drafts.append(EventDraft("message", "system", reason))
        if not drafts:
            self._silent.append(rest)
        for draft in drafts:
            silent = {"spans": self._silent} if self._silent else {}
            yield draft._replace(time=draft.time or time, meta={**draft.meta, **rest, **silent})
            rest, self._silent = {}, []

    def _new(self, messages: list[Any], *, said_in: Span | None = None) -> Iterator[EventDraft]:
        """The events of the messages that no earlier span has shown. The output of a call is always new, but for that
        of the same call in the span of another writer."""
        seen: Counter[str] = Counter()
        for message in messages:
            drafts = message_drafts(message, self._where)
            # exporters write the parts of one message in different orders as output and as input of the next call
            digest = content_hash(
                sorted([draft.kind, draft.role, draft.text.strip(), str(draft.call_id or "")] for draft in drafts)
            )
            seen[digest] += 1
            if said_in is None and seen[digest] <= self._emitted[digest]:
                continue
            if said_in is not None and self._said_by_another(said_in, digest):
                continue
            self._emitted[digest] += 1
            yield from (draft for draft in drafts if self._first(draft))

    def _said_by_another(self, span: Span, digest: str) -> bool:
        writer = next((name for name in _WRITERS if any(key.startswith(name) for key in span.attributes)), "")
        for writers, own, said in self._outputs:
            if writer not in writers and said == digest and own.start <= span.end and span.start <= own.end:
                writers.add(writer)
                return True
        self._outputs.append(({writer}, span, digest))
        return False

    def _first(self, draft: EventDraft) -> bool:
        """Whether a call or its result is not known from another span. A result is, too, if the span of a tool without
        the id of its call has another form of it."""
        known = self._calls if draft.kind == "call" else self._results if draft.kind == "result" else None
        if known is None or not draft.call_id:
            return True
        is_new = str(draft.call_id) not in known
        known.add(str(draft.call_id))
        if draft.kind == "call" and is_new:
            self._asked.setdefault((draft.tool, draft.text), []).append(str(draft.call_id))
        if draft.kind == "result" and draft.text not in self._said.pop(str(draft.call_id), draft.text):
            return True
        return is_new


def _tool(rest: dict[str, Any]) -> list[EventDraft]:
    tool, call_id = rest.pop("gen_ai.tool.name", None), rest.pop("gen_ai.tool.call.id", None)
    arguments, result = (parsed(rest.pop(f"gen_ai.tool.call.{name}", None)) for name in ("arguments", "result"))
    forms: list[str] = []
    if isinstance(arguments, dict) and "input_str" in arguments:  # LangChain's call of a tool
        forms.append(str(arguments["input_str"]))
        arguments = arguments.get("inputs") or arguments["input_str"]
    failed = "status" in rest or "error.type" in rest
    if isinstance(result, dict) and isinstance(output := result.get("output"), dict) and "kwargs" in output:
        own = output["kwargs"]
        call_id, result = call_id or own.get("tool_call_id"), own.get("content")
        failed = failed or own.get("status") == "error"
    reason = _reason(rest)
    text = "\n".join(dict.fromkeys(part for part in (value_text(result), reason) if part))
    call = EventDraft("call", "assistant", argument_text(arguments), tool, call_id, forms=forms)
    answer = EventDraft("result", "tool", text, tool, call_id, failed, forms=forms)
    return [call, answer]


def _responses(messages: Any) -> Iterator[Any]:
    """What a tool answered, in the messages of its span."""
    for message in messages if isinstance(messages, list) else ():
        for part in (message.get("parts") or ()) if isinstance(message, dict) else ():
            if isinstance(part, dict) and part.get("type") == "tool_call_response" and "response" in part:
                yield part["response"]


def _reason(rest: dict[str, Any]) -> str | None:
    """Why a span failed, by its status or its exception."""
    found = rest.get("status", {}).get("message") or rest.get("exception", {}).get("exception.message")
    return None if found is None else str(found)


def _is_task(message: Any) -> bool:
    """Whether a message stands before all that an agent does: instructions and the task, without results."""
    parts = message.get("parts") or message.get("content") if isinstance(message, dict) else None
    kinds = {str(part.get("type")) for part in parts if isinstance(part, dict)} if isinstance(parts, list) else set()
    return isinstance(message, dict) and message.get("role") in ("system", "user") and kinds <= {"text", "None"}


FORMATS.register("opentelemetry")(
    TraceFormat("OpenTelemetry spans with GenAI attributes, as JSON", _recognises, _read, 2)
)
