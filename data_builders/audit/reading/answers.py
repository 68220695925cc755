"""The page of a reading sheet, and the answers to a sheet: filled-in copies of it, and those given on the page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from data_builders.audit.annotation.form import Fields, Form, PairPage, Pane, Round, Task, marked
from data_builders.audit.annotation.record_log import Answers, answers_of_readers
from data_builders.audit.reading.sheet import replaced_span
from judge_r1.core.principles import by_number
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.labels.audit_answers import SHEET_FILE, Reading


class ReadingTask(Task[Reading]):
    """Two questions about each pair, with the label shown, in the order of the sheet."""

    record = Reading
    form = Form.load("reading")

    def __init__(self, data: PairSet) -> None:
        self.data, self._pairs = data, data.by_id()
        self.pair_ids = [*self._pairs]

    def page(self, current: Round[Reading], pair_id: str) -> PairPage:
        pair = self._pairs[pair_id]
        case, flaw, principle = self.data.case_of(pair), pair.origin.flaws[0], by_number(pair.violated[0])
        evidence = marked(case.context, [(span.start, span.end) for span in flaw.context_spans])
        decision = ("Decision reached", [(case.decision, False)])
        flawed = marked(pair.flawed, [(flaw.span.start, flaw.span.end)])
        return PairPage(
            subtitle=principle.code,
            domain=case.domain,
            panes=(
                Pane("context", "The case", (("", evidence), decision)),
                Pane("reference", "Reference", (("", marked(pair.reference, [replaced_span(pair)])),)),
                Pane("flawed", "With the flaw", (("", flawed),)),
            ),
            label=(f"{principle.code} {principle.name}", principle.definition),
        )

    def values(self, answer: Reading) -> set[tuple[str, str]]:
        return {("real", "yes" if answer.real else "no"), ("natural", "yes" if answer.natural else "no")}

    def answer(self, current: Round[Reading], pair_id: str, fields: Fields, common: Mapping[str, Any]) -> Reading:
        return Reading(real=fields["real"] == ["yes"], natural=fields["natural"] == ["yes"], **common)


def load_readings(folder: Path, files: Sequence[Path]) -> tuple[PairSet, Answers[Reading]]:
    """The pairs of a reading sheet and the answers in `files`. Raises as `answers_of_readers`."""
    data = load_pairs(folder)
    advice = (
        f"Set real and natural to true or false in a copy of {folder / SHEET_FILE}, or answer on the page of "
        f"judge-r1 audit serve {folder}"
    )
    return data, answers_of_readers(folder, files, Reading, data.by_id(), advice)
