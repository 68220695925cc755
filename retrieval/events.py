"""The text of an agent's trace: events with one header line each, and the filters of a query over them.

    [trace 1]
    [event 8: call bash at 2026-03-01T10:00:00Z]
    command: pytest -q
    [event 9, part 1 of 2: result bash error at 2026-03-01T10:00:04Z]
    ...

A long event is cut into parts of about `PART_WORDS` words, so each part is a passage that names its event. Lines of an
event that look like a header get a backslash in front, so no text inside an event can pass for another event.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from retrieval.words import count_words

MARK = "[trace 1]\n"
"""The beginning of a trace, with the version of this format."""
PART_WORDS, PART_CHARACTERS = 100, 800
"""The largest part of an event. Words alone are no limit: a line of JSON or base64 may have none."""
EventKind = Literal["message", "thought", "call", "result"]
KINDS: tuple[EventKind, ...] = ("message", "thought", "call", "result")

_NAME, _COUNT = r"[\w.:/@+-]+", r"\d{1,12}"
_HEADER = re.compile(
    rf"^\[event ([A-Z]?)({_COUNT})(?:, part ({_COUNT}) of ({_COUNT}))?: "
    rf"({'|'.join(KINDS)}) ({_NAME})( error)?(?: at ([^\]\n]+))?\]$",
    re.MULTILINE,
)
_LOOKALIKE = re.compile(r"^(\\*\[(?:event|trace) )", re.MULTILINE)
_ESCAPED = re.compile(r"^\\(\\*\[(?:event|trace) )", re.MULTILINE)
_PIECE = re.compile(rf"[^\n]{{1,{PART_CHARACTERS // 2}}}(?:(?<=\s)|\n|$)|[^\n]{{1,{PART_CHARACTERS // 2}}}|\n")
_FILTER = re.compile(
    rf"(?<![\w:])(?:events?\s+([A-Z]?)({_COUNT})(?:\s*(?:-|–|to)\s*([A-Z]?)({_COUNT}))?|(tool|kind|role|trace):(\S+))(?!\w)",
    re.IGNORECASE,
)


class EventHeader(NamedTuple):
    """`trace` names one of several traces in a text ("" if there is one). `name` is the tool of a call or a result, and
    the role of a message or a thought. Parts count from 1."""

    trace: str
    event: int
    part: int
    parts: int
    kind: EventKind
    name: str
    error: bool
    time: str | None

    @property
    def role(self) -> str:
        return {"call": "assistant", "result": "tool"}.get(self.kind, self.name)

    def __str__(self) -> str:
        part = f", part {self.part} of {self.parts}" if self.parts > 1 else ""
        error, time = " error" if self.error else "", f" at {self.time}" if self.time else ""
        return f"[event {self.trace}{self.event}{part}: {self.kind} {self.name}{error}{time}]"


def header_name(name: str) -> str:
    """The name of a tool or role as a header has it: other characters than letters, digits and `_.:/@+-` become `_`."""
    return re.sub(r"[^\w.:/@+-]", "_", name) or "_"


def header_time(time: str | None) -> str | None:
    """The time of an event as a header has it, on one line without brackets."""
    return (" ".join(re.sub(r"[\[\]]", " ", time).split()) or None) if time else None


def render_event(
    event: int, kind: EventKind, name: str, text: str, *, error: bool = False, time: str | None = None, trace: str = ""
) -> str:
    """An event as a part of the text of a trace: for each of its parts a header line and the escaped text."""
    parts = list(_parts(text)) or [""]
    shown, name, time = [], header_name(name), header_time(time)
    for number, part in enumerate(parts, 1):
        header = EventHeader(trace, event, number, len(parts), kind, name, error, time)
        shown.append(f"{header}\n{_LOOKALIKE.sub(lambda found: chr(92) + found[1], part)}\n")
    return "".join(shown)


def is_trace(text: str) -> bool:
    """Whether a text is that of a trace."""
    return text.startswith(MARK)


def event_parts(text: str) -> Iterator[tuple[EventHeader, int, int]]:
    """The parts of all events in a trace: header, and the span `[start, end)` of header and text, without the last line
    feed."""
    last: tuple[EventHeader, int] | None = None
    for found in _HEADER.finditer(text):
        if last is not None:
            yield *last, found.start() - 1
        trace, event, part, parts, kind, name, error, time = found.groups()
        kind = cast(EventKind, kind)
        header = EventHeader(trace, int(event), int(part or 1), int(parts or 1), kind, name, bool(error), time)
        last = header, found.start()
    if last is not None:
        yield *last, len(text) - text.endswith("\n")


def original_text(part: str) -> str:
    """The text of an event, or of a part of it, as it was before it got a header and was escaped."""
    return _ESCAPED.sub(lambda found: found[1], part.partition("\n")[2])


@dataclass(frozen=True)
class EventFilter:
    """The events that a query asks for: ranges (trace, first, last), any of them; and names, one for each key."""

    ranges: tuple[tuple[str, int, int], ...] = ()
    named: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.ranges or self.named)

    def accepts(self, header: EventHeader) -> bool:
        if self.ranges and not any(
            first <= header.event <= last and trace in ("", header.trace) for trace, first, last in self.ranges
        ):
            return False
        return all(_field(header, key).casefold() == value for key, value in self.named)


def _field(header: EventHeader, key: str) -> str:
    """What the filter `key` compares: only calls and results have a tool."""
    if key == "tool":
        return header.name if header.kind in ("call", "result") else ""
    return header.role if key == "role" else header.kind if key == "kind" else header.trace


def split_query(query: str) -> tuple[EventFilter, str]:
    """The filters of a query, and the rest of it: `events 40-60`, `event 7`, `tool:bash`, `kind:result`, `role:user`;
    and `trace:A` or `events A40-60` where a text holds two traces."""
    ranges: list[tuple[str, int, int]] = []
    named: list[tuple[str, str]] = []
    for trace, first, _, last, key, value in (found.groups() for found in _FILTER.finditer(query)):
        if key:
            named.append((key.lower(), header_name(value.rstrip(",.;")).casefold()))
        else:
            ends = int(first), int(last or first)
            ranges.append((trace.upper(), min(ends), max(ends)))
    return EventFilter(tuple(ranges), tuple(named)), " ".join(_FILTER.sub(" ", query).split())


def _parts(text: str) -> Iterator[str]:
    """Cuts a text at line breaks, and long lines at spaces if they have any. The parts together are the text."""
    part, words = "", 0
    for piece in (found[0] for line in text.splitlines(keepends=True) for found in _PIECE.finditer(line)):
        count = count_words(piece)
        if part and (words + count > PART_WORDS or len(part) + len(piece) > PART_CHARACTERS):
            yield part
            part, words = "", 0
        part, words = part + piece, words + count
    if part:
        yield part
