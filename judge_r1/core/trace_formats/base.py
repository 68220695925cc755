"""The interface of trace formats, and a file of JSON values that is read as a stream.

A format is one module of this package that registers itself: what it recognises, and how it reads its events.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import open_to_read
from judge_r1.core.registry import Registry
from judge_r1.core.text_check import counted, short_name
from judge_r1.core.trace import EventDraft

SNIFFED = 20_000
"""JSON events at the start of a file by which a format is recognised."""
MAX_DEPTH = 200
SUB_AGENT = "sub-agent/"
LONG_NUMBER = 600
"""Digits in a row in a file above which it is parsed in Python: the parser in C ends the process at an integer with
more digits than Python converts."""
_BUFFER = 4096
"""Bytes that are parsed at a time. Each level in them has a path as long as its depth."""
_NESTING = {"start_map": 1, "start_array": 1, "end_map": -1, "end_array": -1}
_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_SHORT = 80


class BadTrace(JudgeError):
    """A file is not a trace that can be read. The message says what was seen, and what to do."""


@dataclass
class Shape:
    """What the start of a file holds: whether it is a zip archive, the paths of its JSON values (`messages.item.role`;
    a file of several values, such as JSON Lines, has those of each), and the short texts at each path."""

    archive: bool = False
    paths: set[str] = field(default_factory=set)
    texts: dict[str, set[str]] = field(default_factory=dict)

    def has(self, *paths: str) -> bool:
        return self.paths.issuperset(paths)

    def values(self, path: str) -> set[str]:
        return self.texts.get(path, set())


class TraceFile:
    """A file that holds one trace, or several of which `number` (from 1) is read. JSON values are read one by one.

    The traces are the top-level values of the file, or those at the path `unit`, to which other paths are relative.
    """

    def __init__(self, path: Path, number: int | None = None, *, unit: str = "") -> None:
        self.path, self.number, self._unit = path, number, unit

    @cached_property
    def shape(self) -> Shape:
        """Raises: JudgeError if the file cannot be read, BadTrace if it is neither a zip archive nor JSON."""
        shape = Shape()
        with open_to_read(self.path) as file:
            start = file.read(4)
            if not start:
                raise BadTrace(f"{self.path} is empty")
            if start == b"PK\x03\x04":
                return Shape(archive=True)
            if start[:2] == b"\x1f\x8b":
                raise BadTrace(f"{self.path} is compressed with gzip: unpack it first")
            file.seek(0)
            for number, (prefix, event, value) in enumerate(self._parse(file)):
                if event not in ("map_key", "end_map", "end_array"):
                    shape.paths.add(prefix)
                if event == "string" and len(value) <= _SHORT:
                    shape.texts.setdefault(prefix, set()).add(value)
                if number >= SNIFFED:
                    break
        return shape

    def records(self, *prefixes: str, together: bool = False) -> Iterator[Any]:
        """The values at these paths, in the order of the file: `item` for those of an array, `messages.item` for those
        of an array `messages`, "" for the values of a file of JSON Lines. Those are one trace, as are all values of a
        file where they are `together`; otherwise each value of a file is a trace.

        Raises:
            BadTrace: The file is not valid JSON, or holds several traces and none was chosen.
        """
        wanted = set(prefixes)
        if wanted == {""} and not together and (self.number or 1) > 1:
            raise BadTrace(f"{self.path} holds 1 trace: there is no number {self.number}")
        builder, depth = None, 0
        for prefix, event, value in self._of_trace(one=together or wanted == {""}):
            if builder is None:
                if prefix not in wanted or event in ("map_key", "end_map", "end_array"):
                    continue
                builder = _builder()
            builder.event(event, _number(value))
            depth += _NESTING.get(event, 0)
            if depth == 0:
                yield builder.value
                builder = None

    def fields(self, *left_out: str) -> dict[str, Any]:
        """The fields of the object that holds a trace, without those named."""
        found: dict[str, Any] = {}
        name, builder, depth = "", None, 0
        for prefix, event, value in self._of_trace():
            if prefix == "" and event == "map_key":
                name, builder, depth = value, (None if value in left_out else _builder()), 0
            elif name and builder is not None:
                builder.event(event, _number(value))
                depth += _NESTING.get(event, 0)
                if depth == 0:
                    found[name], builder = builder.value, None
        return found

    def _of_trace(self, *, one: bool = False) -> Iterator[tuple[str, str, Any]]:
        """The JSON events of the chosen top-level value, or of all together if they are `one` trace."""
        top, depth = 0, 0
        with open_to_read(self.path) as file:
            for path, event, value in self._parse(file):
                if not f"{path}.".startswith(f"{self._unit}." if self._unit else ""):
                    continue
                prefix = path[len(self._unit) :].removeprefix(".") if self._unit else path
                top += depth == 0
                depth += _NESTING.get(event, 0)
                if one or top == (self.number or 1):
                    yield prefix, event, value
                elif self.number is None:
                    raise BadTrace(f"{self.path} holds several traces: choose one by its number, from 1 (--number 1)")
        if not one and top < (self.number or 1):
            raise BadTrace(f"{self.path} holds {counted(top, 'trace')}: there is no number {self.number}")

    @cached_property
    def _long_numbers(self) -> bool:
        """May the file hold a number that the parser in C cannot read?"""
        last, found = b"", b"0" * LONG_NUMBER
        with open_to_read(self.path) as file:
            while chunk := file.read(2**20):
                if found in (last := (last + chunk).translate(_AS_ZEROS)):
                    return True
                last = last[-LONG_NUMBER:]
        return False

    def _parse(self, file: BinaryIO) -> Iterator[tuple[str, str, Any]]:
        import ijson
        from ijson.backends import python

        depth = 0
        try:
            parse = python.parse if self._long_numbers else ijson.parse
            for prefix, event, value in parse(file, multiple_values=True, buf_size=_BUFFER):
                depth += _NESTING.get(event, 0)
                if depth > MAX_DEPTH:
                    raise BadTrace(f"{self.path}: a value is nested more than {MAX_DEPTH} levels")
                yield prefix, event, value
        except (ijson.JSONError, ValueError) as error:  # the second for a number
            reason = short_name(" ".join(str(error).partition("\n")[0].split()))
            raise BadTrace(
                f"{self.path} is not valid JSON ({reason}): a trace is JSON, JSON Lines or an Inspect log"
            ) from None


@dataclass(frozen=True)
class TraceFormat:
    """`recognises` sees the start of a file. `read` yields its events in order. `order` decides between formats that
    both recognise a file: the lower one is the more special."""

    about: str
    recognises: Callable[[Shape], bool]
    read: Callable[[TraceFile], Iterator[EventDraft]]
    order: int = 5


FORMATS: Registry[TraceFormat] = Registry("trace format", "judge_r1.core.trace_formats")


def without(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The fields of a record that no event has taken."""
    return {name: value for name, value in record.items() if name not in names and value not in (None, [], {})}


def first_with(drafts: Sequence[EventDraft], meta: Mapping[str, Any], time: str | None) -> Iterator[EventDraft]:
    """The events of one record. The first one gets the fields that the record has left."""
    for number, draft in enumerate(drafts):
        yield draft._replace(meta={**draft.meta, **(meta if number == 0 else {})}, time=draft.time or time)


def of_sub_agent(draft: EventDraft) -> EventDraft:
    """An event of a sub-agent: its role and its tool say so, `sub-agent/assistant` and `sub-agent/bash`."""
    tool = f"{SUB_AGENT}{draft.tool}" if draft.tool else None
    return draft._replace(role=f"{SUB_AGENT}{draft.role}", tool=tool)


def _builder() -> Any:
    from ijson import ObjectBuilder

    return ObjectBuilder()


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value
