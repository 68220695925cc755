"""Conversations as text, and pairs of conversations in the form that episodes and trainers take."""

from pathlib import Path

from pydantic import Field, model_validator

from judge_r1.core.conversations import CONVERSATIONS_FILE, DOCUMENTS_FILE, ConversationPair, Document
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import Conversation
from judge_r1.core.principles import GENERAL
from judge_r1.core.records import Case, Origin, ReasoningPair
from judge_r1.core.verdicts import Judgment, LocatedVerdict
from judge_r1.files.jsonl import read_jsonl
from judge_r1.files.pair_set import PairSet

QUESTION = "In which conversation is the assistant better? The other one has one problematic assistant turn."
"""What a judge of two conversations decides."""


def transcript(conversation: Conversation, *, numbered: bool = True) -> str:
    """A conversation as a judge reads it: one paragraph per message, with the number of its round."""
    parts = []
    for index, message in enumerate(conversation):
        round_ = f"Round {index // 2 + 1}, " if numbered else ""
        parts.append(f"{round_}{message.role.upper()}:\n{message.content}")
    return "\n\n".join(parts)


class TranscriptPair(ReasoningPair):
    """A pair of conversations in the place of two reasonings. It violates no principle; its gold is the better side,
    the flawed round and the type of the flaw."""

    conversations: tuple[Conversation, Conversation]
    flawed_round: int
    failure: str
    violated: tuple[int, ...] = Field((), max_length=0)
    origin: Origin = Field(default_factory=lambda: Origin.model_construct(teacher="conversations", seed=0, flaws=()))

    @model_validator(mode="after")
    def _consistent(self) -> "TranscriptPair":
        return self  # ConversationPair has checked it

    @property
    def located(self) -> LocatedVerdict:
        """The gold as a verdict."""
        return LocatedVerdict(winner=self.preferred, round=self.flawed_round, failure=self.failure)

    @property
    def gold(self) -> Judgment:
        return Judgment(verdict=self.located)


def transcript_pair(pair: ConversationPair, case: Case) -> TranscriptPair:
    """The pair with the transcripts of its conversations as reasonings about `case`."""
    return TranscriptPair(
        schema=1,
        pair_id=pair.pair_id,
        case_id=case.case_id,
        domain=case.domain,
        reasoning_a=transcript(pair.conversation_a),
        reasoning_b=transcript(pair.conversation_b),
        preferred=pair.preferred,
        kind="single",
        variant=1,
        conversations=(pair.conversation_a, pair.conversation_b),
        flawed_round=pair.flawed_round,
        failure=pair.failure,
    )


def is_conversations(folder: Path) -> bool:
    """Whether a data folder holds pairs of conversations."""
    return (folder / CONVERSATIONS_FILE).is_file()


def read_conversations(folder: Path) -> tuple[list[ConversationPair], dict[str, Document]]:
    """The pairs of a folder of `judge-r1 build conversations`, and its documents by id.

    Raises:
        JudgeError: A record is invalid, there is no pair, or the document of a pair is missing.
    """
    found = read_jsonl(folder / DOCUMENTS_FILE, Document, unique="document_id")
    documents = {document.document_id: document for document in found}
    pairs = list(read_jsonl(folder / CONVERSATIONS_FILE, ConversationPair, unique="pair_id"))
    if not pairs:
        raise JudgeError(f"{folder / CONVERSATIONS_FILE} has no pairs")
    if lost := next((pair for pair in pairs if pair.document_id not in documents), None):
        raise JudgeError(
            f"{folder / CONVERSATIONS_FILE}: pair {lost.pair_id} is about document {lost.document_id}, which "
            f"{DOCUMENTS_FILE} does not hold: rebuild the folder"
        )
    return pairs, documents


def load_transcripts(folder: Path) -> PairSet:
    """The conversation pairs of a folder as a pair set: each document is the case that may be searched.

    Raises:
        JudgeError: A record is invalid, or there is no pair.
    """
    pairs, documents = read_conversations(folder)
    cases = {document_id: _case(document) for document_id, document in documents.items()}
    return PairSet.of(cases.values(), [transcript_pair(pair, cases[pair.document_id]) for pair in pairs])


def _case(document: Document) -> Case:
    return Case.of(
        domain=GENERAL,
        context=document.context,
        decision=QUESTION,
        reference=document.document_id,  # a document has no reference; its id keeps equal texts apart
        source=document.source,
        license=document.license,
        meta={"document_domain": document.domain},
    )
