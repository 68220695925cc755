"""Reads the answers to a reading sheet or a blind sheet: filled-in copies of it, and answers given on the page."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from data_builders.audit.annotation.record_log import AnnotatorName, AnswerFileError, Note, check_known, read_log
from data_builders.audit.reading.blind import BLIND_FILE, item_id_of
from data_builders.audit.reading.sheet import SHEET_FILE
from judge_r1.core.jsonl import read_jsonl
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


A = TypeVar("A", Reading, BlindChoice)
Answers = Mapping[str, Mapping[str, A]]
"""The last answer of each reader to each pair: reader -> pair id -> answer."""
Readings = Answers[Reading]
ANSWERS_FILE = "answers.jsonl"
"""The file in the sheet's folder that the page writes."""


def load_readings(folder: Path, files: Sequence[Path]) -> tuple[PairSet, Readings]:
    """Load the pairs of a reading sheet and the answers in `files`.

    Raises:
        AnswerFileError: there are no answers, an answer belongs to another sheet, or two files have answers of one
            reader.
    """
    data = load_pairs(folder)
    advice = (
        f"Set real and natural to true or false in a copy of {folder / SHEET_FILE}, or answer on the page of "
        f"judge-r1 audit serve {folder}"
    )
    ids = {pair.pair_id: pair.pair_id for pair in data.pairs}
    return data, _load(folder, files, Reading, lambda reading: reading.pair_id, ids, advice)


def load_choices(folder: Path, files: Sequence[Path]) -> tuple[PairSet, Answers[BlindChoice]]:
    """Load the pairs of a blind sheet and the answers in `files`. Raises as `load_readings`."""
    data = load_pairs(folder)
    advice = f'Set worse to "A" or "B" in a copy of {folder / BLIND_FILE}'
    ids = {item_id_of(pair): pair.pair_id for pair in data.pairs}
    return data, _load(folder, files, BlindChoice, lambda choice: choice.item_id, ids, advice)


def _load(
    folder: Path,
    files: Sequence[Path],
    model: type[A],
    id_of: Callable[[A], str],
    pair_ids: Mapping[str, str],
    advice: str,
) -> Answers[A]:
    """The answers in `files`. `id_of` is the id that an answer gives, and `pair_ids` its pair."""
    found = dict[str, dict[str, A]]()
    for path in files:
        # A kill of the page can leave an incomplete last line in its file; in a file written by hand it is an error.
        answers = read_log(path, model) if path == folder / ANSWERS_FILE else list(read_jsonl(path, model))
        check_known(map(id_of, answers), pair_ids, path)
        in_file = dict[str, dict[str, A]]()
        for answer in answers:
            if answer.answered:
                in_file.setdefault(answer.annotator or path.stem, {})[pair_ids[id_of(answer)]] = answer
        if twice := sorted(found.keys() & in_file.keys()):
            raise AnswerFileError(
                f"{path} has answers of {twice[0]}, and so does another file: name each reader differently, with the "
                "file's name or a field annotator"
            )
        found.update(in_file)
    if not found:
        raise AnswerFileError(f"{', '.join(map(str, files))}: no answers yet. {advice}")
    return found
