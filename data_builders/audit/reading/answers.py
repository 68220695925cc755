"""Reads the answers to a reading sheet: filled-in copies of `sheet.jsonl`, and answers given on the page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, model_validator

from data_builders.audit.annotation.annotations import AnnotatorName, Note
from data_builders.audit.annotation.record_log import AnswerFileError, check_known, read_log
from data_builders.audit.reading.sheet import SHEET_FILE
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.record_base import NonEmpty


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


ANSWERS_FILE = "answers.jsonl"
"""The file in the sheet's folder that the page writes."""
Readings = Mapping[str, Mapping[str, Reading]]
"""The last answer of each reader to each pair: reader -> pair id -> answer."""


def load_readings(folder: Path, files: Sequence[Path]) -> tuple[PairSet, Readings]:
    """Load the pairs of a sheet and the answers in `files`.

    Raises:
        AnswerFileError: there are no answers, an answer belongs to another sheet, or two files have answers of one
            reader.
    """
    data, found = load_pairs(folder), dict[str, dict[str, Reading]]()
    for path in files:
        # A kill of the page can leave an incomplete last line in its file; in a file written by hand it is an error.
        readings = read_log(path, Reading) if path == folder / ANSWERS_FILE else list(read_jsonl(path, Reading))
        check_known(readings, [pair.pair_id for pair in data.pairs], path)
        in_file = dict[str, dict[str, Reading]]()
        for reading in readings:
            if reading.real is not None:
                in_file.setdefault(reading.annotator or path.stem, {})[reading.pair_id] = reading
        if twice := sorted(found.keys() & in_file.keys()):
            raise AnswerFileError(
                f"{path} has answers of {twice[0]}, and so does another file: name each reader differently, with the "
                "file's name or a field annotator"
            )
        found.update(in_file)
    if not found:
        raise AnswerFileError(
            f"{', '.join(map(str, files))}: no answers yet. Set real and natural to true or false in a copy of "
            f"{folder / SHEET_FILE}, or answer on the page of judge-r1 audit serve {folder}"
        )
    return data, found
