"""Draws conversation pairs for people who check their labels, and the page on which they do (RankJudge, section 3.3).

The sample is uniform: how judges did on a pair plays no role, so the share of wrong labels is that of the whole set.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from data_builders.audit.annotation.form import Fields, Form, PairPage, Pane, Round, Task
from data_builders.audit.annotation.text_diff import Piece
from data_builders.conversations.parts import write_part
from judge_r1.core.conversation_types import FAILURES
from judge_r1.core.conversations import ConversationPair, Document
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Conversation
from judge_r1.files.transcripts import read_conversations
from judge_r1.labels.audit_answers import PairLabel

SAMPLE_FILE = "sample.json"


def write_sample(folder: Path, out: Path, count: int, seed: int) -> int:
    """Writes `count` pairs, or all if there are fewer, with their documents. Returns their number.

    Raises:
        JudgeError: `out` holds a sample already, or the folder has no pair.
    """
    if (out / SAMPLE_FILE).exists():
        raise JudgeError(f"{out / SAMPLE_FILE} exists, and answers may belong to it: write to another folder")
    pairs, _ = read_conversations(folder)
    drawn = Random(seed).sample(sorted(pair.pair_id for pair in pairs), min(count, len(pairs)))
    write_part(folder, out, drawn, {SAMPLE_FILE: {"seed": seed, "pairs": len(drawn), "of": len(pairs)}})
    return len(drawn)


class LabelTask(Task[PairLabel]):
    """A document, both conversations and the labels; people say whether the labels are right. No judge's answer and no
    rating is shown."""

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
