"""Events of judge_r1 itself, one a line: what `Event` holds, without the index, which counts the lines."""

from collections.abc import Iterator

from judge_r1.core.errors import invalid_as
from judge_r1.traces.base import FORMATS, BadTrace, Shape, TraceFile, TraceFormat
from judge_r1.traces.content import lists_with
from judge_r1.traces.trace import Event, EventDraft
from retrieval.events import KINDS


def _recognises(shape: Shape) -> bool:
    return any(
        shape.values(f"{path}.kind".lstrip(".")) <= set(KINDS) or not shape.has(f"{path}.content".lstrip("."))
        for path in lists_with(shape, "kind", "role", "text")
    )


def _read(file: TraceFile) -> Iterator[EventDraft]:
    for number, record in enumerate(file.records(*lists_with(file.shape, "kind", "role", "text"))):
        with invalid_as(BadTrace, f"{file.path}, event {number}"):
            event = Event.model_validate({**record, "index": number})
        yield EventDraft(**event.model_dump(exclude={"index"}))


FORMATS.register("events")(TraceFormat("events with kind, role and text, one a line", _recognises, _read, 3))
