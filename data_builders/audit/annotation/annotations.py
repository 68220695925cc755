"""The answer of an annotator to a pair, and the file of answers."""

import unicodedata
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator

from data_builders.audit.annotation.record_log import RecordLog, read_log
from judge_r1.core.record_base import NonEmpty, PrincipleNumber, Record
from judge_r1.core.verdicts import Preference

MAX_NAME_LENGTH, MAX_NOTE_LENGTH = 40, 2_000
Round = Literal[1, 2]


def _check_name(name: str) -> str:
    normalized = unicodedata.normalize("NFC", name).strip()
    if name != normalized or not name.isprintable():
        raise ValueError("must be plain text without spaces around it")
    return name


AnnotatorName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH), AfterValidator(_check_name)]
Note = Annotated[str, Field(max_length=MAX_NOTE_LENGTH)]


class Answer(Record):
    """One choice. `choice` and `shown_first` are sides of the pair in its file, not on the page."""

    schema_: Literal[1] = Field(1, alias="schema")
    annotator: AnnotatorName
    round: Round
    pair_id: NonEmpty
    choice: Preference
    shown_first: Preference
    principles: tuple[PrincipleNumber, ...] = ()
    note: Note = ""
    at: NonEmpty

    @field_validator("principles")
    @classmethod
    def _sorted_unique(cls, principles: tuple[int, ...]) -> tuple[int, ...]:
        if list(principles) != sorted(set(principles)):
            raise ValueError(f"must be sorted and without repeats, not {list(principles)}")
        return principles


class AnswerLog(RecordLog[Answer]):
    """A file of choices, locked for writing by this process."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, Answer)


def read_answers(path: Path) -> list[Answer]:
    """Return the answers of a file in order, without an incomplete last line. A missing file has no answers."""
    return read_log(path, Answer)
