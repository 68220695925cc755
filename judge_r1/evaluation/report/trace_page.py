"""A judged trace as JSON, and as one page without scripts: the verdict, and the trace with the evidence marked.

Events that the judge cites or read are open, and the parts that it read are marked. Runs of other events are folded. A
long trace keeps the events around the evidence and at both ends; the page says how many others there are.
"""

from collections.abc import Iterator, Sequence
from importlib.resources import files
from itertools import groupby
from typing import Any, NamedTuple

from judge_r1.core.principles import by_number
from judge_r1.core.text_check import counted
from judge_r1.evaluation.report.standalone import plain_page
from judge_r1.judges.trace_tasks import FoundEvent, TraceResult
from judge_r1.traces.trace import EventSpan

PAGE_CHARACTERS = 2_000_000
"""The largest trace that a page holds in full."""
AROUND, ENDS = 3, 10
"""Events that a page of a longer trace keeps on both sides of each piece of evidence, and at both ends."""


class _Shown(NamedTuple):
    """An event with its text in pieces (text, is it marked), and its state (`FoundEvent.state`), "" for one without."""

    event: EventSpan
    state: str
    pieces: Sequence[tuple[str, bool]]


class _Run(NamedTuple):
    """Events in a row: shown, folded, or left out of the page."""

    shown: Sequence[_Shown]
    folded: bool = False
    left_out: int = 0
    characters: int = 0


def trace_page(result: TraceResult, *, title: str, masked: int | None = None) -> str:
    """The page of a judged trace. All text is escaped; the page has no script and loads nothing."""
    template = (files(__package__) / "static" / "trace.html").read_text(encoding="utf-8")
    return plain_page(
        template, title=title, result=result, masked=masked, runs=list(_runs(result)), counted=counted,
        searches=sum(one.trajectory.searches for one in result.results),
        principles=[by_number(number).name for number in result.violated_principles],
    )  # fmt: skip


def result_json(result: TraceResult, *, masked: int | None = None) -> dict[str, Any]:
    """A judged trace as JSON. The events of a finding are in the order of the trace."""
    return {
        "judge": result.judge,
        "kind": result.kind,
        "verdict": result.verdict,
        "valid": result.valid,
        "confidence": result.confidence,
        "score": result.score,
        "violated_principles": [
            {"number": number, "name": by_number(number).name} for number in result.violated_principles
        ],
        "failed_criteria": list(result.failed),
        "findings": [
            {"question": one.question, "answer": one.answer, "score": one.score, "failed": one.failed,
             "reason": one.reason, "note": one.note,
             "events": [_event_json(event, result.trace.text) for event in one.events]}
            for one in result.findings
        ],
        "events": len(result.trace.events),
        "searches": sum(one.trajectory.searches for one in result.results),
        "masked": masked,
        "unread": result.trace.unread,
        "notes": list(result.trace.notes),
    }  # fmt: skip


def _event_json(found: FoundEvent, text: str) -> dict[str, Any]:
    event = found.event
    return {
        "event": event.label, "kind": event.kind, "name": event.name, "error": event.error, "time": event.time,
        "cited": found.cited, "state": found.state, "text": event.text,
        "read": [text[start:end] for start, end in found.spans],
    }  # fmt: skip


def _runs(result: TraceResult) -> Iterator[_Run]:
    """Each event with evidence alone, and what is between them."""
    events, known = result.trace.events, {found.event.start: found for found in result.events}
    kept = set(range(len(events)))
    if len(result.trace.text) > PAGE_CHARACTERS:
        places = [place for place, event in enumerate(events) if event.start in known]
        kept = {near for place in places for near in range(place - AROUND, place + AROUND + 1)}
        kept |= set(range(ENDS)) | set(range(len(events) - ENDS, len(events)))

    def part(place: int) -> str:
        return "evidence" if events[place].start in known else "kept" if place in kept else "left out"

    for name, group in groupby(range(len(events)), part):
        run = [events[place] for place in group]
        if name == "evidence":
            yield from (_Run([_shown(event, known[event.start], result.trace.text)]) for event in run)
        elif name == "kept":
            yield _Run([_shown(event, None, result.trace.text) for event in run], folded=len(run) > 1)
        else:
            yield _Run((), left_out=len(run), characters=sum(len(event.text) for event in run))


def _shown(event: EventSpan, found: FoundEvent | None, text: str) -> _Shown:
    if found is None:
        return _Shown(event, "", [(event.text, False)])
    pieces, place = [], event.start
    for start, end in found.spans:
        pieces += [(text[place:start], False), (text[start:end], True)]
        place = end
    pieces.append((text[place : event.end], False))
    return _Shown(event, found.state, pieces if found.spans else [(event.text, found.read)])
