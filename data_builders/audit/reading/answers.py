"""Reads the answers to a reading sheet or a blind sheet: filled-in copies of it, and answers given on the page."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, model_validator

from data_builders.audit.annotation.record_log import AnnotatorName, Answers, Note, answers_of_readers
from data_builders.audit.reading.blind import BLIND_FILE, item_id_of
from data_builders.audit.reading.sheet import SHEET_FILE
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.record_base import NonEmpty
from judge_r1.core.verdicts import Preference


class Reading(BaseModel):
    """A line of answers. Other fields of the line, such as the question, are ignored.

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


class BlindChoice(BaseModel):
    """A line of answers to a blind sheet. Other fields of the line are ignored.

    `item_id` is that of the sheet's line. `worse`: the side that the reader takes for the worse one; null until the
    pair is read. `reason`: why; empty or null for a guess. Without `annotator`, the name of the file names the reader.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    annotator: AnnotatorName | None = None
    item_id: NonEmpty
    worse: Preference | None
    reason: Note | None = None

    @property
    def is_guess(self) -> bool:
        return not (self.reason or "").strip()

    @property
    def answered(self) -> bool:
        return self.worse is not None


Readings = Answers[Reading]


def load_readings(folder: Path, files: Sequence[Path]) -> tuple[PairSet, Readings]:
    """Load the pairs of a reading sheet and the answers in `files`. Raises as `answers_of_readers`."""
    data = load_pairs(folder)
    advice = (
        f"Set real and natural to true or false in a copy of {folder / SHEET_FILE}, or answer on the page of "
        f"judge-r1 audit serve {folder}"
    )
    ids = {pair.pair_id: pair.pair_id for pair in data.pairs}
    return data, answers_of_readers(folder, files, Reading, ids, advice)


def load_blind(folder: Path, files: Sequence[Path]) -> tuple[PairSet, Answers[BlindChoice]]:
    """Load the pairs of a blind sheet and the answers in `files`. Raises as `answers_of_readers`."""
    data = load_pairs(folder)
    advice = f'Set worse to "A" or "B" in a copy of {folder / BLIND_FILE}'
    ids = {item_id_of(pair): pair.pair_id for pair in data.pairs}
    return data, answers_of_readers(folder, files, BlindChoice, ids, advice, id_field="item_id")
