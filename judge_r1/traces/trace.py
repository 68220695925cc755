"""The events of an agent's trace: messages, thoughts, tool calls and their results; and the trace as a case.

The text of a trace (`retrieval.events`) holds its events in order, each with a header line that names its index, kind,
tool and time. It is the context of a case: a search finds parts of events, and the header says which.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import Field

from judge_r1.core.principles import GENERAL
from judge_r1.core.record_base import NonEmpty, Record
from judge_r1.core.records import Case
from judge_r1.core.text_check import valid_utf8
from retrieval.events import MARK, EventHeader, EventKind, event_parts, original_text, render_event

UNKNOWN_TOOL = "unknown"
"""The tool of a result whose call the trace does not hold."""


class Event(Record):
    """One event of a trace.

    `tool` names the tool of a call or a result, and `call_id` connects the two. `error` says that the trace marks the
    result as failed. `meta` holds the fields of the source that have no place here.
    """

    index: int = Field(ge=0)
    kind: EventKind
    role: NonEmpty
    text: str
    tool: str | None = None
    call_id: str | None = None
    error: bool = False
    time: str | None = None
    meta: dict[str, Any] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """The tool of a call or a result, the role of a message or a thought."""
        return (self.tool or UNKNOWN_TOOL) if self.kind in ("call", "result") else self.role


class EventDraft(NamedTuple):
    """An event as a reader of a format finds it, before it has an index. `forms` are texts of the file that the event
    shows in another form."""

    kind: EventKind
    role: str
    text: str
    tool: str | None = None
    call_id: str | int | None = None
    error: bool = False
    time: str | None = None
    meta: Mapping[str, Any] = {}
    forms: Sequence[str] = ()


@dataclass(frozen=True)
class EventSpan:
    """Where an event stands in the text of a trace: `[start, end)` with its header lines. `text` is the event's own.
    `trace` is "" unless the text holds several traces."""

    trace: str
    index: int
    kind: EventKind
    name: str
    error: bool
    time: str | None
    start: int
    end: int
    text: str

    @property
    def label(self) -> str:
        """How queries and headers name the event, such as `12`, or `B12` in a text of two traces."""
        return f"{self.trace}{self.index}"


def numbered(drafts: Iterable[EventDraft]) -> Iterator[Event]:
    """The events of a trace, from 0. A result without the name of its tool gets that of the call with its id.
    Ids that are numbers become text."""
    # By the id of the call: several calls may run at once, so the last one need not be that of a result.
    tools: dict[str, str] = {}
    for index, draft in enumerate(drafts):
        tool, call_id = draft.tool, str(draft.call_id) if isinstance(draft.call_id, int) else draft.call_id
        if draft.kind == "call" and tool and call_id:
            tools[call_id] = tool
        elif draft.kind == "result" and not tool:
            tool = tools.get(call_id or "")
        yield Event(
            index=index, kind=draft.kind, role=draft.role or UNKNOWN_TOOL, text=valid_utf8(draft.text), tool=tool,
            call_id=call_id, error=draft.error, time=draft.time, meta=dict(draft.meta),
        )  # fmt: skip


def trace_text(events: Iterable[Event], *, trace: str = "") -> str:
    """The text of a trace. `trace` is its letter where a text holds several (`joined_traces`)."""
    text = MARK
    for event in events:
        # CPython extends a text in place, so that it is never in memory twice
        text += render_event(
            event.index, event.kind, event.name, event.text, error=event.error, time=event.time, trace=trace
        )
    return text


def joined_traces(*texts: str) -> str:
    """One text of several traces that were written with different letters."""
    return MARK + "".join(text.removeprefix(MARK) for text in texts)


def trace_events(text: str) -> list[EventSpan]:
    """The events in the text of a trace, in order."""
    spans: list[tuple[EventHeader, int, int, list[str]]] = []  # with the parts of each text, which are joined once
    for header, start, end in event_parts(text):
        part = original_text(text[start:end])
        if header.part > 1 and spans and (spans[-1][0].trace, spans[-1][0].event) == (header.trace, header.event):
            first, begin, _, parts = spans[-1]
            parts.append(part)
            spans[-1] = first, begin, end, parts
        else:
            spans.append((header, start, end, [part]))
    return [
        EventSpan(one.trace, one.event, one.kind, one.name, one.error, one.time, start, end, "".join(parts))
        for one, start, end, parts in spans
    ]


def trace_case(
    events: Iterable[Event], *, decision: str = "", source: str = "trace", license: str = "unknown", **meta: Any
) -> Case:
    """A trace as a case: its text is the context, the last message of the agent is the reference.

    Args:
        decision: What is to be judged; by default the first message of a user, which is the agent's task.
        source: Where the trace comes from.
        license: Its license.
        meta: More fields for the case's `meta`. The `meta` of events is there as `events`, by index.
    """
    own: dict[str, Any] = {}
    task = final = ""

    def seen() -> Iterator[Event]:
        nonlocal task, final
        for event in events:
            if event.meta:
                own[str(event.index)] = event.meta
            if event.kind == "message" and event.text.strip():
                task = task or (event.text if event.role == "user" else "")
                final = event.text if event.role == "assistant" else final
            yield event

    text = trace_text(seen())
    return Case.of(
        domain=GENERAL, context=text, decision=decision or task or "(the trace states no task)",
        reference=final or "(the agent wrote no message)", source=source, license=license,
        meta={**meta, **({"events": own} if own else {})},
    )  # fmt: skip


def argument_text(arguments: Any) -> str:
    """The arguments of a tool call as text: one `name: value` for each, with the line breaks of its value. JSON in a
    text counts as what it stands for; anything else stays as it is."""
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments
        return argument_text(parsed) if isinstance(parsed, dict) else arguments
    if isinstance(arguments, dict):
        return "\n".join(
            f"{name}: {value if isinstance(value, str) else json_text(value)}" for name, value in arguments.items()
        )
    return "" if arguments is None else json_text(arguments)


def json_text(value: Any) -> str:
    """A JSON value on one line."""
    return json.dumps(value, ensure_ascii=False)
