"""The page of a reading sheet: two questions about each pair, with the label shown."""

from collections.abc import Mapping
from typing import Any

from data_builders.audit.annotation.form import Fields, Form, PairPage, Pane, Round, Task, marked
from data_builders.audit.reading.answers import Reading
from data_builders.audit.reading.sheet import replaced_span
from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import by_number


class ReadingTask(Task[Reading]):
    """Readers say of each pair whether the flaw is real and natural, in the order of the sheet."""

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
