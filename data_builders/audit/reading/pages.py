"""The pages of a reading sheet: two questions about each pair, with the label shown."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from pydantic import ValidationError

from data_builders.audit.annotation.annotations import MAX_NAME_LENGTH, MAX_NOTE_LENGTH
from data_builders.audit.annotation.local_site import (
    Fields,
    LocalSite,
    RequestError,
    Response,
    annotator_name,
    one_field,
    render,
    requested_index,
)
from data_builders.audit.annotation.record_log import RecordLog
from data_builders.audit.annotation.text_diff import Piece
from data_builders.audit.reading.answers import Reading, check_readings
from data_builders.audit.reading.sheet import replaced_span
from judge_r1.core.errors import explain
from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import by_number
from judge_r1.core.records import Span

Answers = Mapping[str, Reading]
"""The last answer of one reader to each pair, by pair id."""


class ReadingSite(LocalSite):
    """Pages where readers say of each pair whether the flaw is real and natural, in the order of the sheet."""

    def __init__(self, data: PairSet, log: RecordLog[Reading], token: str) -> None:
        super().__init__(log, token)
        self.data = data

    def routes(self) -> Mapping[tuple[str, str], Callable[[Fields], Response]]:
        return {("GET", ""): self._start, ("GET", "pair"): self._show, ("POST", "answer"): self._answer}

    def _start(self, _: Fields) -> Response:
        known = [(name, len(self._answers_of(name))) for name in sorted({a.annotator for a in self.log.answers})]
        return render("reading_start.html", pairs=len(self.data.pairs), known=known, longest=MAX_NAME_LENGTH)

    def _show(self, fields: Fields) -> Response:
        name = annotator_name(fields)
        answers = self._answers_of(name)
        following = next((i for i, pair in enumerate(self.data.pairs) if pair.pair_id not in answers), None)
        index = requested_index(fields, len(self.data.pairs), following)
        if index is None:
            return render("reading_done.html", annotator=name, pairs=len(self.data.pairs))
        return render("reading.html", annotator=name, index=index, **self._pair_fields(index, answers))

    def _pair_fields(self, index: int, answers: Answers) -> dict[str, Any]:
        pair = self.data.pairs[index]
        case, answer, flaw = self.data.case_of(pair), answers.get(pair.pair_id), pair.origin.flaws[0]
        start, end = replaced_span(pair)
        return {
            "pairs": len(self.data.pairs),
            "answered": len(answers),
            "domain": case.domain,
            "decision": case.decision,
            "principle": by_number(pair.violated[0]),
            "context": _pieces(case.context, flaw.context_spans),
            "reference": _pieces(pair.reference, [Span(start=start, end=end)] if end > start else []),
            "flawed": _pieces(pair.flawed, [flaw.span]),
            "pair_id": pair.pair_id,
            "answer": answer,
            "longest": MAX_NOTE_LENGTH,
        }

    def _answer(self, fields: Fields) -> Response:
        name, pair_id = annotator_name(fields), one_field(fields, "pair")
        if pair_id not in {pair.pair_id for pair in self.data.pairs}:
            raise RequestError(409, "This pair is not in the sheet: continue from the start page.")
        real, natural = (one_field(fields, question, "") for question in ("real", "natural"))
        if {real, natural} - {"yes", "no"}:
            raise RequestError(400, "Answer both questions first.")
        try:
            reading = Reading(
                annotator=name,
                pair_id=pair_id,
                real=real == "yes",
                natural=natural == "yes",
                note=one_field(fields, "note", "").replace("\r\n", "\n"),
                at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            )
        except ValidationError as error:
            raise RequestError(400, f"The answer was not saved: {explain(error)}.") from None
        self.log.append(reading)
        return self.redirect("pair", annotator=name)

    def _answers_of(self, name: str) -> Answers:
        return {a.pair_id: a for a in self.log.answers if a.annotator == name}


def _pieces(text: str, spans: Iterable[Span]) -> list[Piece]:
    """Split a text at the spans; the pieces within spans are marked. Overlapping spans count as one."""
    pieces, position = list[Piece](), 0
    for span in sorted(spans, key=lambda span: span.start):
        start, end = max(position, span.start), max(position, span.end)
        pieces += [(text[position:start], False), (text[start:end], True)]
        position = end
    return [(piece, marked) for piece, marked in [*pieces, (text[position:], False)] if piece]


def open_reading(data: PairSet, folder: Path, answers: Path) -> ReadingSite:
    """Open the answer file of a sheet for writing and return a site with a new token.

    Raises:
        AnswerFileError: The file cannot be opened, is invalid, is in use, or has answers to another sheet.
    """
    log = RecordLog(answers, Reading)
    check_readings(data, folder, log.answers, answers)
    return ReadingSite(data, log, token_urlsafe(16))
