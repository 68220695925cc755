"""The pages on which people check the labels of conversation pairs. No judge's answer and no rating is shown."""

from collections.abc import Callable, Mapping
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
from data_builders.audit.conversation_labels.labels import LABELS, PairLabel, check_labels, read_folder
from judge_r1.core.conversation_types import failure_type
from judge_r1.core.conversations import ConversationPair, Document
from judge_r1.core.errors import explain
from judge_r1.core.items import Conversation

Turns = list[tuple[str, str, bool]]
"""Of each message: who writes in which round, the text, and whether it is the turn with the flaw."""


class LabelSite(LocalSite):
    """Pages that show a document, both conversations and the labels, and ask whether the labels are right."""

    def __init__(
        self,
        pairs: list[ConversationPair],
        documents: Mapping[str, Document],
        log: RecordLog[PairLabel],
        token: str,
    ) -> None:
        super().__init__(log, token)
        self.pairs, self.documents = pairs, documents

    def routes(self) -> Mapping[tuple[str, str], Callable[[Fields], Response]]:
        return {("GET", ""): self._start, ("GET", "pair"): self._show, ("POST", "answer"): self._answer}

    def _start(self, _: Fields) -> Response:
        known = [(name, len(self._answers_of(name))) for name in sorted({a.annotator for a in self.log.answers})]
        return render("labels_start.html", pairs=len(self.pairs), known=known, longest=MAX_NAME_LENGTH)

    def _show(self, fields: Fields) -> Response:
        name = annotator_name(fields)
        answers = self._answers_of(name)
        following = next((i for i, pair in enumerate(self.pairs) if pair.pair_id not in answers), None)
        index = requested_index(fields, len(self.pairs), following)
        if index is None:
            return render("reading_done.html", annotator=name, pairs=len(self.pairs))
        return render("labels.html", annotator=name, index=index, **self._pair_fields(index, answers))

    def _pair_fields(self, index: int, answers: Mapping[str, PairLabel]) -> dict[str, Any]:
        pair = self.pairs[index]
        document = self.documents[pair.document_id]
        return {
            "pairs": len(self.pairs),
            "answered": len(answers),
            "domain": document.domain,
            "context": document.context,
            "user": pair.user_behaviour,
            "round": pair.flawed_round,
            "failure": failure_type(pair.failure),
            "better": _turns(pair.better, 0),
            "worse": _turns(pair.worse, pair.flawed_round),
            "pair_id": pair.pair_id,
            "answer": answers.get(pair.pair_id),
            "labels": LABELS,
            "longest": MAX_NOTE_LENGTH,
        }

    def _answer(self, fields: Fields) -> Response:
        name, pair_id = annotator_name(fields), one_field(fields, "pair")
        if pair_id not in {pair.pair_id for pair in self.pairs}:
            raise RequestError(409, "This pair is not in the set: continue from the start page.")
        chosen = one_field(fields, "label", "")
        if chosen not in LABELS:
            raise RequestError(400, "Choose one of the three labels first.")
        try:
            label = PairLabel(
                schema=1,
                annotator=name,
                pair_id=pair_id,
                label=chosen,
                note=one_field(fields, "note", "").replace("\r\n", "\n"),
                at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            )
        except ValidationError as error:
            raise RequestError(400, f"The answer was not saved: {explain(error)}.") from None
        self.log.append(label)
        return self.redirect("pair", annotator=name)

    def _answers_of(self, name: str) -> Mapping[str, PairLabel]:
        return {a.pair_id: a for a in self.log.answers if a.annotator == name}


def _turns(conversation: Conversation, flawed_round: int) -> Turns:
    return [
        (
            f"Round {index // 2 + 1}, {message.role}",
            message.content,
            message.role == "assistant" and index // 2 + 1 == flawed_round,
        )
        for index, message in enumerate(conversation)
    ]


def open_labels(folder: Path, answers: Path) -> LabelSite:
    """Opens the answer file of a folder of conversations for writing and returns a site with a new token.

    Raises:
        AnswerFileError: The file cannot be opened, is invalid, is in use, or has answers about other pairs.
    """
    pairs, documents = read_folder(folder)
    log = RecordLog(answers, PairLabel)
    check_labels(pairs, log.answers, answers)
    return LabelSite(pairs, documents, log, token_urlsafe(16))
