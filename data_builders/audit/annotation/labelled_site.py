"""Pages that show one pair after the other with its labels, and ask every reader about each of them."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ValidationError

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
from judge_r1.core.errors import explain

A = TypeVar("A", bound=BaseModel)


class LabelledSite(LocalSite, Generic[A]):
    """The pairs come in the order of the set. The last answer of a reader to a pair counts. An answer is a record with
    `annotator`, `pair_id`, `note` and `at`."""

    start_page: ClassVar[str]
    pair_page: ClassVar[str]

    def __init__(self, pair_ids: Sequence[str], log: RecordLog[A], token: str) -> None:
        super().__init__(log, token)
        self.pair_ids = pair_ids

    @abstractmethod
    def pair_fields(self, index: int) -> Mapping[str, Any]:
        """What the page shows of a pair. `index` counts from 0."""

    @abstractmethod
    def read_answer(self, fields: Fields, common: Mapping[str, Any]) -> A:
        """The answer that was sent; `common` holds the fields of every answer.

        Raises:
            RequestError: The reader has not chosen.
            ValidationError: A field has a wrong value.
        """

    def routes(self) -> Mapping[tuple[str, str], Callable[[Fields], Response]]:
        return {("GET", ""): self._start, ("GET", "pair"): self._show, ("POST", "answer"): self._answer}

    def _start(self, _: Fields) -> Response:
        known = [(name, len(self._answers_of(name))) for name in sorted({a.annotator for a in self.log.answers})]
        return render(self.start_page, pairs=len(self.pair_ids), known=known, longest=MAX_NAME_LENGTH)

    def _show(self, fields: Fields) -> Response:
        name, pairs = annotator_name(fields), len(self.pair_ids)
        answers = self._answers_of(name)
        following = next((i for i, pair_id in enumerate(self.pair_ids) if pair_id not in answers), None)
        index = requested_index(fields, pairs, following)
        if index is None:
            return render("reading_done.html", annotator=name, pairs=pairs)
        shown: dict[str, Any] = {
            "annotator": name, "index": index, "pairs": pairs, "answered": len(answers),
            "pair_id": self.pair_ids[index], "answer": answers.get(self.pair_ids[index]), "longest": MAX_NOTE_LENGTH,
        }  # fmt: skip
        return render(self.pair_page, **shown, **self.pair_fields(index))

    def _answer(self, fields: Fields) -> Response:
        name, pair_id = annotator_name(fields), one_field(fields, "pair")
        if pair_id not in self.pair_ids:
            raise RequestError(409, "This pair is not in the set: continue from the start page.")
        common = {
            "annotator": name,
            "pair_id": pair_id,
            "note": one_field(fields, "note", "").replace("\r\n", "\n"),
            "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        }
        try:
            answer = self.read_answer(fields, common)
        except ValidationError as error:
            raise RequestError(400, f"The answer was not saved: {explain(error)}.") from None
        self.log.append(answer)
        return self.redirect("pair", annotator=name)

    def _answers_of(self, name: str) -> Mapping[str, A]:
        return {a.pair_id: a for a in self.log.answers if a.annotator == name}
