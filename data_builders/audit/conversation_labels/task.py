"""The page on which people check the labels of conversation pairs. No judge's answer and no rating is shown."""

from collections.abc import Mapping, Sequence
from typing import Any

from data_builders.audit.annotation.form import Fields, Form, PairPage, Pane, Round, Task
from data_builders.audit.annotation.text_diff import Piece
from data_builders.audit.conversation_labels.labels import PairLabel
from judge_r1.core.conversation_types import FAILURES
from judge_r1.core.conversations import ConversationPair, Document
from judge_r1.core.items import Conversation


class LabelTask(Task[PairLabel]):
    """A document, both conversations and the labels; people say whether the labels are right."""

    record = PairLabel
    form = Form.load("labels")

    def __init__(self, pairs: Sequence[ConversationPair], documents: Mapping[str, Document]) -> None:
        self.pairs, self.documents = {pair.pair_id: pair for pair in pairs}, documents
        self.pair_ids = [*self.pairs]

    def page(self, current: Round[PairLabel], pair_id: str) -> PairPage:
        pair = self.pairs[pair_id]
        document, failure = self.documents[pair.document_id], next(f for f in FAILURES if f.key == pair.failure)
        return PairPage(
            subtitle=failure.key,
            domain=document.domain,
            panes=(
                Pane("context", "The document", (("", [(document.context, False)]),)),
                Pane("reference", "Better", _turns(pair.better, 0)),
                Pane("flawed", "Worse", _turns(pair.worse, pair.flawed_round)),
            ),
            label=(
                f"Round {pair.flawed_round}, {failure.letter} {failure.key}",
                f"{failure.flaw} The user is {pair.user_behaviour}.",
            ),
        )

    def values(self, answer: PairLabel) -> set[tuple[str, str]]:
        return {("label", answer.label)}

    def answer(self, current: Round[PairLabel], pair_id: str, fields: Fields, common: Mapping[str, Any]) -> PairLabel:
        return PairLabel.model_validate({"schema": 1, "label": fields["label"][0], **common})


def _turns(conversation: Conversation, flawed_round: int) -> list[tuple[str, Sequence[Piece]]]:
    """Each message under its round and role; the turn of the assistant with the flaw is marked."""
    return [
        (
            f"Round {index // 2 + 1}, {message.role}",
            [(message.content, message.role == "assistant" and index // 2 + 1 == flawed_round)],
        )
        for index, message in enumerate(conversation)
    ]
