"""Blind annotation: people choose the better reasoning of each pair without seeing its label (LRBench, section 2.3).

Order and side are drawn separately for each annotator and round, so no position and no side is favoured, and a pair of
the second round does not keep its position of the first.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from data_builders.audit.annotation.form import Fields, Form, Option, PairPage, Pane, Question, Round, Task, differences
from judge_r1.core.principles import PRINCIPLES
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair
from judge_r1.core.verdicts import Preference
from judge_r1.files.pair_set import PairSet, load_pairs
from judge_r1.labels.audit_answers import AnswerFileError, Choice, check_known, read_log


def annotators(answers: Iterable[Choice]) -> list[str]:
    return sorted({answer.annotator for answer in answers})


def first_round(data: PairSet, answers: Iterable[Choice], annotator: str) -> Round[Choice]:
    """Return the round over all pairs."""
    return _round(data.by_id(), answers, annotator, 1)


def second_round(data: PairSet, answers: Sequence[Choice], annotator: str) -> Round[Choice] | None:
    """Return the round over the pairs whose first choice differs from the label; None until the first is complete."""
    first, labels = first_round(data, answers, annotator), data.by_id()
    if not first.complete:
        return None
    differing = (i for i in first.order if first.answers[i].choice != labels[i].preferred)
    return _round(differing, answers, annotator, 2)


def _round(pair_ids: Iterable[str], answers: Iterable[Choice], annotator: str, number: int) -> Round[Choice]:
    order = sorted(pair_ids, key=lambda pair_id: content_hash("order", pair_id, annotator, number))
    own = {a.pair_id: a for a in answers if a.annotator == annotator and a.round == number}
    return Round(annotator, number, order, own)


def first_side(pair: ReasoningPair, annotator: str, number: int) -> Preference:
    """Return the side of the pair that the page shows first, as A."""
    return "A" if int(content_hash("side", pair.pair_id, annotator, number), 16) % 2 == 0 else "B"


def load_choices(folder: Path, answers: Path) -> tuple[PairSet, list[Choice]]:
    """Load pairs and the choices about them.

    Raises:
        AnswerFileError: the file has no answers, or answers of other pairs.
    """
    data, found = load_pairs(folder), read_log(answers, Choice)
    if not found:
        raise AnswerFileError(f"{answers} has no answers yet: collect them with judge-r1 audit serve {folder}")
    check_known((answer.pair_id for answer in found), data.by_id(), answers)
    return data, found


class ChoiceTask(Task[Choice]):
    """Two rounds of blind choices. No page reveals a label."""

    record = Choice
    form = Form.load("choices")
    _marks = Question(
        name="principle",
        text="Violated principles",
        options=tuple(
            Option(value=str(p.number), key=str(p.number), text=p.name, meaning=p.definition) for p in PRINCIPLES
        ),
    )

    def __init__(self, data: PairSet) -> None:
        self.data, self._pairs = data, data.by_id()
        self.pair_ids = [*self._pairs]

    def rounds(self, answers: Sequence[Choice], annotator: str) -> list[Round[Choice]]:
        second = second_round(self.data, answers, annotator)
        return [first_round(self.data, answers, annotator), *([second] if second else [])]

    def page(self, current: Round[Choice], pair_id: str) -> PairPage:
        pair = self._pairs[pair_id]
        case = self.data.case_of(pair)
        sides = (pair.reasoning_a, pair.reasoning_b)
        shown = sides if first_side(pair, current.annotator, current.number) == "A" else sides[::-1]
        decision = ("Decision reached", [(case.decision, False)])
        return PairPage(
            subtitle=f"round {current.number}",
            domain=case.domain,
            panes=(
                Pane("context", "The case", (("", [(case.context, False)]), decision)),
                *(
                    Pane(f"reasoning-{name}", f"Reasoning {name}", (("", pieces),))
                    for name, pieces in zip("AB", differences(*shown), strict=True)
                ),
            ),
            marks=self._marks,
        )

    def values(self, answer: Choice) -> set[tuple[str, str]]:
        side = first_side(self._pairs[answer.pair_id], answer.annotator, answer.round)
        chosen = "A" if answer.choice == side else "B"
        return {("choice", chosen), *(("principle", str(number)) for number in answer.principles)}

    def answer(self, current: Round[Choice], pair_id: str, fields: Fields, common: Mapping[str, Any]) -> Choice:
        side = first_side(self._pairs[pair_id], current.annotator, current.number)
        other = "B" if side == "A" else "A"
        marked = [p.number for p in PRINCIPLES if str(p.number) in fields.get("principle", [])]
        return Choice.model_validate(
            {
                **common,
                "schema": 1,
                "round": current.number,
                "choice": side if fields["choice"] == ["A"] else other,
                "shown_first": side,
                "principles": marked,
            }
        )
