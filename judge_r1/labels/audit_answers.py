"""What people answer on the pages of `judge-r1 audit serve`: the records of answers.jsonl, and their reader.

The file is append-only. A changed answer is a new line, and the last line counts.
"""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import NonEmpty, PrincipleNumbers, Record
from judge_r1.core.verdicts import Preference
from judge_r1.files.append_log import log_lines
from judge_r1.files.pair_set import load_pairs
from judge_r1.files.strict_json import BadJson, parse_model
from judge_r1.files.transcripts import is_conversations, read_conversations

R = TypeVar("R", bound=BaseModel)
ANSWERS_FILE, SHEET_FILE = "answers.jsonl", "sheet.jsonl"
"""The file in a folder of pairs that its page writes, and the one that makes the folder a reading sheet."""
QUESTION = "(question)"
"""The key of a row for the name of the question that it answers: no field of a tool or of people has it."""
MAX_NAME_LENGTH, MAX_NOTE_LENGTH = 40, 2_000
Label = Literal["clean", "ambiguous", "noise"]
LABELS: tuple[Label, ...] = get_args(Label)


def _check_name(name: str) -> str:
    if name != unicodedata.normalize("NFC", name).strip() or not name.isprintable():
        raise ValueError("must be plain text without spaces around it")
    return name


AnnotatorName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH), AfterValidator(_check_name)]
Note = Annotated[str, Field(max_length=MAX_NOTE_LENGTH)]


class AnswerFileError(JudgeError):
    """A file of answers cannot be read or written, or does not belong to the pairs."""


class Choice(Record):
    """The better reasoning of a pair. `choice` and `shown_first` are sides of the pair in its file, not on the page."""

    schema_: Literal[1] = Field(1, alias="schema")
    annotator: AnnotatorName
    round: Literal[1, 2]
    pair_id: NonEmpty
    choice: Preference
    shown_first: Preference
    principles: PrincipleNumbers = ()
    note: Note = ""
    at: NonEmpty


class Reading(BaseModel):
    """What a reader says of a flaw. Other fields of the line, such as the question, are ignored.

    `real`: the flawed reasoning violates the named principle. `natural`: the changed passage reads naturally. Both are
    null until the pair is read. Without `annotator`, the name of the file names the reader.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    annotator: AnnotatorName | None = None
    pair_id: NonEmpty
    real: bool | None
    natural: bool | None
    note: Note = ""
    at: str = ""

    @model_validator(mode="after")
    def _both_or_none(self) -> "Reading":
        if (self.real is None) != (self.natural is None):
            raise ValueError("real and natural must both be true or false, or both null")
        return self

    @property
    def answered(self) -> bool:
        return self.real is not None


class PairLabel(Record):
    """Whether the labels of a pair of conversations are right."""

    schema_: Literal[1] = Field(1, alias="schema")
    annotator: AnnotatorName
    pair_id: NonEmpty
    label: Label
    note: Note = ""
    at: NonEmpty


def check_known(ids: Iterable[str], known: Collection[str], where: Path) -> None:
    """Check that all answers, given by the ids of their pairs, belong to pairs of the set.

    Raises:
        AnswerFileError: an answer belongs to another pair.
    """
    if other := next((pair_id for pair_id in ids if pair_id not in known), None):
        raise AnswerFileError(
            f"{where} has an answer to pair {other}, which is not in the set: pass the answers of this set"
        )


def read_log(path: Path, model: type[R]) -> list[R]:
    """The answers of a file in order, without an incomplete last line, which was never acknowledged. A missing file has
    no answers."""
    answers = []
    for number, _, line in log_lines(path, model):
        try:
            answers.append(parse_model(model, line, f"{path}, line {number}"))
        except BadJson as error:
            raise AnswerFileError(f"{path}, line {number}: {error.reason}") from None
    return answers


def audit_rows(folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The answers of a folder as rows of labels: the first choices between two reasonings, the two questions of a
    reading sheet (`real` and `natural`), or the words for labels of conversations.

    Raises:
        AnswerFileError: A line is no answer, or one about another pair.
    """
    path = folder / ANSWERS_FILE
    if is_conversations(folder):
        yield from _conversation_rows(folder, path)
        return
    data = load_pairs(folder)
    pairs, sheet = data.by_id(), (folder / SHEET_FILE).exists()
    answers: list[Any] = read_log(path, Reading if sheet else Choice)
    check_known((answer.pair_id for answer in answers), pairs, path)
    for one in _last(answer for answer in answers if getattr(answer, "round", 1) == 1):
        pair = pairs[one.pair_id]
        case = data.case_of(pair)
        row = {"id": one.pair_id, "input": case.decision, "context": case.context, "cluster": case.group}
        if not sheet:
            row |= {"a": pair.reasoning_a, "b": pair.reasoning_b}
            yield str(path), {**row, "annotator": one.annotator, "label": one.choice}
            continue
        row |= {"output": pair.flawed, "reference": pair.reference}
        for question in ("real", "natural") if one.answered else ():
            word = "yes" if getattr(one, question) else "no"
            yield str(path), {**row, QUESTION: question, "annotator": one.annotator or "reader", "label": word}


def _conversation_rows(folder: Path, path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found, documents = read_conversations(folder)
    pairs, answers = {pair.pair_id: pair for pair in found}, read_log(path, PairLabel)
    check_known((answer.pair_id for answer in answers), pairs, path)
    for one in _last(answers):
        pair = pairs[one.pair_id]
        better, worse = ("\n\n".join(f"{m.role}: {m.content}" for m in talk) for talk in (pair.better, pair.worse))
        yield str(path), {
            "id": one.pair_id, "input": f"{pair.failure}, round {pair.flawed_round}",
            "context": documents[pair.document_id].context, "reference": better, "output": worse,
            "cluster": pair.document_id, "annotator": one.annotator, "label": one.label,
        }  # fmt: skip


def _last(answers: Iterable[Any]) -> Iterable[Any]:
    """The last answer of each person about each pair."""
    return {(one.annotator, one.pair_id): one for one in answers}.values()
