"""The pages of blind annotation: two rounds, without any label."""

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

from pydantic import ValidationError

from data_builders.audit.annotation.annotations import MAX_NAME_LENGTH, MAX_NOTE_LENGTH, Answer, AnswerLog, Round
from data_builders.audit.annotation.assignment import (
    AnnotatorRound,
    annotators,
    first_round,
    first_side,
    page_key,
    second_round,
)
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
from data_builders.audit.annotation.text_diff import differences
from judge_r1.core.errors import explain
from judge_r1.core.pair_set import PairSet
from judge_r1.core.principles import NUMBERS, PRINCIPLES
from judge_r1.core.records import ReasoningPair


class Site(LocalSite):
    """Pages where annotators choose the better reasoning of each pair."""

    def __init__(self, data: PairSet, log: AnswerLog, token: str) -> None:
        super().__init__(log, token)
        self.data = data
        self._pairs = data.by_id()

    def routes(self) -> Mapping[tuple[str, str], Callable[[Fields], Response]]:
        return {("GET", ""): self._start, ("GET", "pair"): self._show, ("POST", "answer"): self._answer}

    def _start(self, _: Fields) -> Response:
        answers = self.log.answers
        known = [
            (first_round(self.data, answers, name), second_round(self.data, answers, name))
            for name in annotators(answers)
        ]
        return render("start.html", pairs=len(self.data.pairs), known=known, longest=MAX_NAME_LENGTH)

    def _show(self, fields: Fields) -> Response:
        answers = self.log.answers
        name = annotator_name(fields)
        first, second = first_round(self.data, answers, name), second_round(self.data, answers, name)
        wanted = one_field(fields, "round", "2" if second and second.answered else "1")
        current = second if wanted == "2" and second else first
        index = requested_index(fields, len(current.order), current.next_index())
        if index is None:
            repeated = len(second.order) if current.round == 1 and second else 0
            started = bool(second and second.answered)
            return render("done.html", round=current, repeated=repeated, started=started)
        return render("pair.html", round=current, index=index, **self._pair_fields(current, index))

    def _pair_fields(self, current: AnnotatorRound, index: int) -> dict[str, Any]:
        """Return the fields of the pair's page. None of them reveals the label."""
        pair = self._pairs[current.order[index]]
        case, answer = self.data.case_of(pair), current.answers.get(pair.pair_id)
        side = first_side(pair, current.annotator, current.round)
        chosen = None if answer is None else "A" if answer.choice == side else "B"
        left, right = differences(*_in_shown_order(pair, side))
        return {
            "domain": case.domain,
            "context": case.context,
            "decision": case.decision,
            "reasonings": (("A", left), ("B", right)),
            "key": page_key(pair.pair_id, current.annotator, current.round),
            "chosen": chosen,
            "marked": answer.principles if answer else (),
            "note": answer.note if answer else "",
            "longest": MAX_NOTE_LENGTH,
            "principles": PRINCIPLES,
        }

    def _answer(self, fields: Fields) -> Response:
        answers = self.log.answers
        name, round_, key = annotator_name(fields), _round(fields), one_field(fields, "key")
        second = second_round(self.data, answers, name)
        current = first_round(self.data, answers, name) if round_ == 1 else second
        if current is None:
            raise RequestError(409, "Complete the first round before the second.")
        if round_ == 1 and second and second.answered:
            raise RequestError(409, "The second round has begun: choices of the first round can no longer change.")
        pair_id = next((i for i in current.order if page_key(i, name, round_) == key), None)
        if pair_id is None:
            raise RequestError(409, "This pair is no longer in this round: continue from the start page.")
        self.log.append(self._record(fields, self._pairs[pair_id], name, round_))
        return self.redirect("pair", annotator=name, round=round_)

    def _record(self, fields: Fields, pair: ReasoningPair, name: str, round_: Round) -> Answer:
        side, chosen = first_side(pair, name, round_), one_field(fields, "choice", "")
        if chosen not in ("A", "B"):
            raise RequestError(400, "Choose A or B first.")
        other = "B" if side == "A" else "A"
        try:
            return Answer.model_validate(
                {
                    "annotator": name,
                    "round": round_,
                    "pair_id": pair.pair_id,
                    "choice": side if chosen == "A" else other,
                    "shown_first": side,
                    "principles": [n for n in NUMBERS if str(n) in fields.get("principle", [])],
                    "note": one_field(fields, "note", "").replace("\r\n", "\n"),
                    "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                    "schema": 1,
                }
            )
        except ValidationError as error:
            raise RequestError(400, f"The answer was not saved: {explain(error)}.") from None


def _in_shown_order(pair: ReasoningPair, first: str) -> tuple[str, str]:
    sides = (pair.reasoning_a, pair.reasoning_b)
    return sides if first == "A" else (sides[1], sides[0])


def _round(fields: Fields) -> Round:
    text = one_field(fields, "round")
    if text not in ("1", "2"):
        raise RequestError(400, "The round must be 1 or 2.")
    return 1 if text == "1" else 2
