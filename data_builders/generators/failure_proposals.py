"""Failures of assistants that the taxonomy lacks: a teacher reads conversations and proposes types (RankJudge, 3.1).

People decide which proposals become a type: it should be possible for a good assistant, hard to see, need several
turns, and overlap with no other type. A type is one entry of `judge_r1.core.conversation_types.FAILURES`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from data_builders.conversations.teacher import Asker, NoAnswer, WrongForm
from data_builders.dataset_type import DatasetType, RecordFile
from data_builders.generators import register
from data_builders.generators.base import BuildPlan, Generator, RecordGroup
from data_builders.prompts import fill, guard
from data_builders.teachers import Teacher
from data_builders.teachers.attempts import Attempts
from judge_r1.core.conversation_types import FAILURES, failure_type
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ChatMessage
from judge_r1.core.record_base import NonEmpty, Record
from judge_r1.core.tabular import Row, rows
from judge_r1.core.transcripts import transcript

_TOKENS = 4000
_NO_FAILURE = "none"


class Proposal(Record):
    """What a teacher says of one conversation. `matched` is the type that covers its failure. Without one, `name`,
    `definition` and `evidence` propose a type; all are empty if the conversation has no failure."""

    schema_: int = Field(1, alias="schema", ge=1, le=1)
    sample_id: NonEmpty
    failure: bool
    matched: str = ""
    name: str = ""
    definition: str = ""
    evidence: str = ""

    @property
    def outcome(self) -> str:
        """What the conversation counts as."""
        return self.matched or ("proposed" if self.failure else "no failure")


class ProposalDataset(DatasetType[Proposal]):
    """Proposals, one for each conversation."""

    files = (
        RecordFile("proposal", "proposals.jsonl", Proposal, "sample_id", lambda found: {"by_outcome": [found.outcome]}),
    )
    main = files[0]
    title = "Proposed types of failures"


@dataclass(frozen=True)
class Sample:
    """A conversation as text."""

    sample_id: str
    text: str


@register
class FailureProposals(Generator[Sample]):
    """types of failures that your conversations show and the taxonomy lacks (a table with id and messages, or text)"""

    name = "failure-proposals"
    dataset = ProposalDataset()
    needs_teacher = True
    trial = 2
    unused = ("kinds", "variants", "seed")

    def __init__(self, plan: BuildPlan, teachers: tuple[Teacher, ...] = ()) -> None:
        super().__init__(plan, teachers)
        self._attempts = Attempts()
        self._asker = Asker(teachers[0], self._attempts)

    @property
    def attempts(self) -> Attempts:
        return self._attempts

    def items(self) -> Iterator[Sample]:
        if self.plan.path is None:
            raise JudgeError(f"generator {self.name!r} reads conversations: give their table with --path")
        seen: set[str] = set()
        for number, row in enumerate(rows(self.plan.path)):
            if self.plan.limit is not None and number >= self.plan.limit:
                return
            sample = _sample(row)
            if sample.sample_id in seen:
                raise row.error("id", "must not repeat")
            seen.add(sample.sample_id)
            yield sample

    async def generate(self, item: Sample) -> RecordGroup | None:
        types = "\n".join(f"{failure.letter} {failure.key}: {failure.flaw}" for failure in FAILURES)
        fields = {"conversation": guard(item.text, "conversation"), "types": types}

        def read(found: dict[str, Any]) -> Proposal:
            return _read(item.sample_id, found)

        try:
            return RecordGroup([await self._asker.ask(fill("conversation_failures", fields), _TOKENS, read)])
        except NoAnswer as error:
            self.abstained[str(error)] += 1
            return None

    def settings(self) -> dict[str, Any]:
        return {**super().settings(), "path": self.plan.path_name, "limit": self.plan.limit}

    def details(self) -> dict[str, Any]:
        name, tried = self._asker.teacher.name, self._attempts
        return {"teacher": {"name": name, "answers": tried.answers, "rejected": dict(tried.rejected)}}


def _sample(row: Row) -> Sample:
    if "messages" not in row.values:
        return Sample(row.name("id"), row.text("text"))
    messages = row.value("messages")
    try:
        talk = tuple(ChatMessage.model_validate(message) for message in messages)
    except (TypeError, ValueError):
        talk = ()
    if not talk:
        raise row.error("messages", "must be a list of messages with role and content")
    return Sample(row.name("id"), transcript(talk))


def _read(sample_id: str, found: dict[str, Any]) -> Proposal:
    """The proposal of an answer. Raises: WrongForm."""
    kind, texts = found.get("type"), [found.get(key, "") for key in ("name", "definition", "evidence")]
    if not isinstance(kind, str) or not all(isinstance(text, str) for text in texts):
        raise WrongForm("type, name, definition and evidence must be texts")
    if kind.strip().lower() == _NO_FAILURE:
        return Proposal(schema=1, sample_id=sample_id, failure=False)
    if known := failure_type(kind):
        return Proposal(schema=1, sample_id=sample_id, failure=True, matched=known.key, evidence=texts[2])
    if kind.strip().lower() != "new" or not all(text.strip() for text in texts):
        raise WrongForm("type must be a known one, none, or new with name, definition and evidence")
    return Proposal(schema=1, sample_id=sample_id, failure=True, name=texts[0], definition=texts[1], evidence=texts[2])
