"""The interface of trace formats, and a file that holds traces as JSON.

A format is one module of this package that registers itself: what it recognises, and how it reads its events.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from judge_r1.core.registry import Registry
from judge_r1.core.text_check import counted
from judge_r1.files.jsonl import open_to_read
from judge_r1.traces.accounting import Unread
from judge_r1.traces.json_values import BadTrace, JsonValues
from judge_r1.traces.trace import EventDraft

T = TypeVar("T")

__all__ = ["FORMATS", "BadTrace", "Shape", "TraceFile", "TraceFormat"]
SNIFFED = 20_000
"""JSON values at the start of a file by which a format is recognised."""
SUB_AGENT = "sub-agent/"
_SHORT = 80


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

    def add(self, value: Any, path: str, left: int) -> int:
        """Adds a value and those in it, at most `left` values. Returns how many more may be added."""
        self.paths.add(path)
        if isinstance(value, str) and len(value) <= _SHORT:
            self.texts.setdefault(path, set()).add(value)
        inner = value.items() if isinstance(value, dict) else (("item", one) for one in _listed(value))
        left -= 1
        for name, own in inner:
            if left <= 0:
                break
            left = self.add(own, f"{path}.{name}".lstrip("."), left)
        return left


class TraceFile:
    """A file that holds one trace, or several of which `number` (from 1) is read. Each value is parsed once.

    The traces are the top-level values of the file, the conversations of a list of them, or the values at the path
    `unit`, to which other paths are relative. `unread` accounts for the texts that are handed out.
    """

    def __init__(
        self, path: Path, number: int | None = None, *, unit: str = "", unread: Unread | None = None,
        values: JsonValues | None = None,
    ) -> None:  # fmt: skip
        self.path, self.number, self._unit = path, number, unit
        self.unread = unread or Unread(allowed=True)
        self.unread.where = str(path)
        self._json = values or JsonValues(path)

    def within(self, unit: str) -> "TraceFile":
        """The same file, whose traces are at another path."""
        return TraceFile(self.path, self.number, unit=unit, unread=self.unread, values=self._json)

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
        left = SNIFFED
        for value in _split(self._json.values()):
            left = shape.add(value, "", left)
            if left <= 0:
                break
        return shape

    def records(self, *prefixes: str, together: bool = False, noted: bool = True) -> Iterator[Any]:
        """The values at each of these paths: `item` for those of an array, `messages.item` for those of an array
        `messages`, "" for the values of a file of JSON Lines. Those are one trace, as are all values of a file where
        they are `together`; otherwise each value of a file is a trace. `noted`: their texts must be read.

        Raises:
            BadTrace: The file is not valid JSON, or holds several traces and none was chosen.
        """
        if prefixes == ("",) and not together and (self.number or 1) > 1:
            raise BadTrace(f"{self.path} holds 1 trace: there is no number {self.number}")
        number = 0
        one = together or prefixes == ("",)
        for value in self._of_trace(one=one, keep=not one):
            for record in chain.from_iterable(_at(iter([value]), prefix) for prefix in prefixes):
                if noted:
                    self.unread.note(record, f"record {number}")
                yield record
                number += 1

    def fields(self, *paths: str, refuses: bool = True) -> dict[str, Any]:
        """The fields of the object that holds a trace, without the values at these paths, such as `messages` or
        `choices.item.message`. `refuses`: their texts must be read."""
        found: dict[str, Any] = {}
        for value in self._of_trace():
            if isinstance(value, dict):
                found = value
                for path in paths:
                    found = _without(found, path.removesuffix(".item"))
        self.unread.note(found, "a field beside the messages", beside=True, refuses=refuses)
        return found

    def chosen(self, found: Sequence[T], what: str, which: str = "") -> T:
        """The one of these that `number` names. Raises: BadTrace."""
        if self.number is None and len(found) > 1:
            raise BadTrace(f"{self.path} holds {len(found)} {what}s: choose one by its number, from 1 (--number 1)")
        if not 0 < (number := self.number or 1) <= len(found):
            raise BadTrace(f"{self.path} holds {counted(len(found), what)}{which}: there is no number {number}")
        return found[number - 1]

    def _of_trace(self, *, one: bool = False, keep: bool = True) -> Iterator[Any]:
        """The chosen top-level value, or all if they are `one` trace."""
        top = 0
        for value in _at(_split(self._json.values(keep=keep)), self._unit):
            top += 1
            if one or top == (self.number or 1):
                yield value
            elif self.number is None:
                raise BadTrace(f"{self.path} holds several traces: choose one by its number, from 1 (--number 1)")
        if not one and top < (self.number or 1):
            raise BadTrace(f"{self.path} holds {counted(top, 'trace')}: there is no number {self.number}")


@dataclass(frozen=True)
class TraceFormat:
    """`recognises` sees the start of a file. `read` yields its events in order. `order` decides between formats that
    both recognise a file: the lower one is the more special."""

    about: str
    recognises: Callable[[Shape], bool]
    read: Callable[[TraceFile], Iterator[EventDraft]]
    order: int = 5


FORMATS: Registry[TraceFormat] = Registry("trace format", "judge_r1.traces")


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
    forms = (*draft.forms, draft.role, draft.tool or "")
    return draft._replace(role=f"{SUB_AGENT}{draft.role}", tool=tool, forms=forms)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _split(values: Iterator[Any]) -> Iterator[Any]:
    """The values, and for a list of conversations each of them."""
    for value in values:
        yield from value if isinstance(value, list) and value and all(map(_is_conversation, value)) else [value]


def _is_conversation(value: Any) -> bool:
    """A list of objects, or an object that is no message and holds a list of messages."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) for one in value)
    if not isinstance(value, dict) or {"role", "type", "content", "message"} & value.keys():
        return False
    return any(_listed(own) and all(isinstance(o, dict) and "role" in o for o in own) for own in value.values())


def _at(values: Iterator[Any], path: str) -> Iterator[Any]:
    """The values at a path such as `messages.item`."""
    name, _, rest = path.partition(".")
    for value in values:
        if not path:
            yield value
        elif name == "item":
            yield from _at(iter(_listed(value)), rest)
        elif isinstance(value, dict) and name in value:
            yield from _at(iter([value[name]]), rest)


def _without(value: Any, path: str) -> Any:
    """A copy of a value without what stands at a path."""
    name, _, rest = path.partition(".")
    if name == "item":
        return [own for own in (_without(own, rest) for own in value) if own] if isinstance(value, list) else value
    if not isinstance(value, dict) or name not in value:
        return value
    inner = _without(value[name], rest) if rest else None
    return {key: inner if key == name else own for key, own in value.items() if key != name or inner}
