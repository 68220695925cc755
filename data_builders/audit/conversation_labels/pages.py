"""The pages on which people check the labels of conversation pairs. No judge's answer and no rating is shown."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

from data_builders.audit.annotation.labelled_site import LabelledSite
from data_builders.audit.annotation.local_site import Fields, RequestError, one_field
from data_builders.audit.annotation.record_log import RecordLog, check_known
from data_builders.audit.conversation_labels.labels import LABELS, PairLabel
from judge_r1.core.conversation_types import failure_type
from judge_r1.core.conversations import ConversationPair, Document, read_conversations
from judge_r1.core.items import Conversation

Turns = list[tuple[str, str, bool]]
"""Of each message: who writes in which round, the text, and whether it is the turn with the flaw."""


class LabelSite(LabelledSite[PairLabel]):
    """Pages that show a document, both conversations and the labels, and ask whether the labels are right."""

    start_page, pair_page = "labels_start.html", "labels.html"

    def __init__(
        self,
        pairs: Sequence[ConversationPair],
        documents: Mapping[str, Document],
        log: RecordLog[PairLabel],
        token: str,
    ) -> None:
        super().__init__([pair.pair_id for pair in pairs], log, token)
        self.pairs, self.documents = pairs, documents

    def pair_fields(self, index: int) -> Mapping[str, Any]:
        pair = self.pairs[index]
        document = self.documents[pair.document_id]
        return {
            "domain": document.domain,
            "context": document.context,
            "user": pair.user_behaviour,
            "round": pair.flawed_round,
            "failure": failure_type(pair.failure),
            "better": _turns(pair.better, 0),
            "worse": _turns(pair.worse, pair.flawed_round),
            "labels": LABELS,
        }

    def read_answer(self, fields: Fields, common: Mapping[str, Any]) -> PairLabel:
        chosen = one_field(fields, "label", "")
        if chosen not in LABELS:
            raise RequestError(400, "Choose one of the three labels first.")
        return PairLabel(schema=1, label=chosen, **common)


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
    pairs, documents = read_conversations(folder)
    log = RecordLog(answers, PairLabel)
    check_known((answer.pair_id for answer in log.answers), {pair.pair_id for pair in pairs}, answers)
    return LabelSite(pairs, documents, log, token_urlsafe(16))
