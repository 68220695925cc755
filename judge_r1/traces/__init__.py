"""Readers of agent traces: one module for each format. A file is recognised by its content."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from pydantic import ValidationError

from judge_r1.core.errors import explain
from judge_r1.core.text_check import beginning, short_name
from judge_r1.traces.accounting import NAMES, NO_TEXT, NO_TEXT_WITHIN, Unread
from judge_r1.traces.base import FORMATS, BadTrace, Shape, TraceFile
from judge_r1.traces.masking import Masked, masked_events
from judge_r1.traces.trace import Event, EventDraft, numbered

__all__ = [
    "FORMATS",
    "NAMES",
    "NO_TEXT",
    "NO_TEXT_WITHIN",
    "BadTrace",
    "Masked",
    "Unread",
    "events_of_records",
    "format_of",
    "read_events",
]
_SHOWN = 12
_MALFORMED = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What readers raise for values of another type or form than their format has."""


def read_events(
    path: Path, *, number: int | None = None, masked: Masked | None = None, unread: Unread | None = None
) -> Iterator[Event]:
    """The events of a trace, read as a stream.

    Args:
        path: A file of any registered format.
        number: Which trace, from 1, of a file with several.
        masked: Counts the secrets that are masked; None leaves them in.
        unread: Counts the texts that no event has, and may allow them; None refuses them.

    Raises:
        BadTrace: The format is not known, the file is not valid, it has text that no event would show, or
            it holds several traces and none was chosen.
    """
    file = TraceFile(path, number, unread=unread or Unread())
    events = _events(file, format_of(file))
    return events if masked is None else masked_events(events, masked)


def events_of_records(
    records: Sequence[Any], *, masked: Masked | None = None, unread: Unread | None = None
) -> Iterator[Event]:
    """The events of a trace that is in memory, such as a list of messages. Raises: BadTrace."""
    with NamedTemporaryFile("w", encoding="utf-8", prefix="trace-", suffix=".json") as file:
        try:
            json.dump(records, file)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadTrace(f"the trace is not a list of JSON values: {error}") from None
        file.flush()
        try:
            yield from read_events(Path(file.name), masked=masked, unread=unread)
        except BadTrace as error:
            raise BadTrace(str(error).replace(file.name, "the trace")) from None


def _events(file: TraceFile, name: str) -> Iterator[Event]:
    number = 0
    empty = True
    try:
        for event in numbered(_noted(file, FORMATS.get(name).read(file))):
            yield event
            number += 1
            empty = empty and event.kind in ("message", "thought") and not event.text.strip()
        file.unread.settle(end=True)
        if number and empty:
            raise BadTrace(f"{file.path}: none of its events has a text: its writer kept no contents")
        if not number:
            raise BadTrace(f"{file.path} holds no message, call or result of the format {name}: check what wrote it")
    except _MALFORMED as error:
        reason = explain(error) if isinstance(error, ValidationError) else beginning(" ".join(str(error).split()), 200)
        raise BadTrace(f"{file.path}: event {number} is not valid for the format {name}: {reason}") from error


def _noted(file: TraceFile, drafts: Iterator[EventDraft]) -> Iterator[EventDraft]:
    for draft in drafts:
        file.unread.show(draft)
        yield draft


def format_of(file: TraceFile) -> str:
    """The name of the format of a file. Raises: BadTrace, with what was seen in the file."""
    formats = sorted((FORMATS.get(name).order, name) for name in FORMATS.names())
    for _, name in formats:
        if FORMATS.get(name).recognises(file.shape):
            return name
    known = "; ".join(f"{name} ({FORMATS.get(name).about})" for _, name in formats)
    raise BadTrace(f"{file.path} is no trace of a known format: it holds {_seen(file.shape)}; known formats: {known}")


def _seen(shape: Shape) -> str:
    if shape.archive:
        return "a zip archive that is no Inspect log"
    paths = sorted(short_name(path) for path in shape.paths if path)
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"JSON with {', '.join(paths[:_SHOWN])}{more}" if paths else "JSON without any field"
