"""The pages of a reading sheet: two questions about each pair, with the label shown."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from data_builders.audit.annotation.labelled_site import LabelledSite
from data_builders.audit.annotation.local_site import Fields, RequestError, one_field
from data_builders.audit.annotation.record_log import RecordLog, check_known
from data_builders.audit.annotation.text_diff import Piece
from data_builders.audit.reading.answers import Reading
from data_builders.audit.reading.sheet import replaced_span
from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import by_number
from judge_r1.core.records import Span


class ReadingSite(LabelledSite[Reading]):
    """Pages where readers say of each pair whether the flaw is real and natural, in the order of the sheet."""

    start_page, pair_page = "reading_start.html", "reading.html"

    def __init__(self, data: PairSet, log: RecordLog[Reading], token: str) -> None:
        super().__init__([pair.pair_id for pair in data.pairs], log, token)
        self.data = data

    def pair_fields(self, index: int) -> Mapping[str, Any]:
        pair = self.data.pairs[index]
        case, flaw = self.data.case_of(pair), pair.origin.flaws[0]
        start, end = replaced_span(pair)
        return {
            "domain": case.domain,
            "decision": case.decision,
            "principle": by_number(pair.violated[0]),
            "context": _pieces(case.context, flaw.context_spans),
            "reference": _pieces(pair.reference, [Span(start=start, end=end)] if end > start else []),
            "flawed": _pieces(pair.flawed, [flaw.span]),
        }

    def read_answer(self, fields: Fields, common: Mapping[str, Any]) -> Reading:
        real, natural = (one_field(fields, question, "") for question in ("real", "natural"))
        if {real, natural} - {"yes", "no"}:
            raise RequestError(400, "Answer both questions first.")
        return Reading(real=real == "yes", natural=natural == "yes", **common)


def _pieces(text: str, spans: Iterable[Span]) -> list[Piece]:
    """Split a text at the spans; the pieces within spans are marked. Overlapping spans count as one."""
    pieces, position = list[Piece](), 0
    for span in sorted(spans, key=lambda span: span.start):
        start, end = max(position, span.start), max(position, span.end)
        pieces += [(text[position:start], False), (text[start:end], True)]
        position = end
    return [(piece, marked) for piece, marked in [*pieces, (text[position:], False)] if piece]


def open_reading(data: PairSet, answers: Path) -> ReadingSite:
    """Open the answer file of a sheet for writing and return a site with a new token.

    Raises:
        AnswerFileError: The file cannot be opened, is invalid, is in use, or has answers to another sheet.
    """
    log = RecordLog(answers, Reading)
    check_known((answer.pair_id for answer in log.answers), data.by_id(), answers)
    return ReadingSite(data, log, token_urlsafe(16))
