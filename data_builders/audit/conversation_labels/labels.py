"""Draws conversation pairs for people who check their labels, and reads what they say (RankJudge, section 3.3).

The sample is uniform: how judges did on a pair plays no role, so the share of wrong labels is that of the whole set.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from random import Random
from typing import Literal, get_args

from pydantic import Field

from data_builders.audit.annotation.record_log import AnnotatorName, AnswerFileError, Note, check_known, read_log
from data_builders.conversations.parts import write_part
from judge_r1.core.conversations import read_conversations
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import NonEmpty, Record

Label = Literal["clean", "ambiguous", "noise"]
LABELS: tuple[Label, ...] = get_args(Label)
SAMPLE_FILE = "sample.json"


class PairLabel(Record):
    """What one person says of one pair. The last line of a person about a pair counts."""

    schema_: Literal[1] = Field(1, alias="schema")
    annotator: AnnotatorName
    pair_id: NonEmpty
    label: Label
    note: Note = ""
    at: NonEmpty


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


def read_labels(folder: Path, files: Sequence[Path], pairs: Collection[str]) -> dict[tuple[str, str], PairLabel]:
    """The last label of each (pair, person).

    Raises:
        AnswerFileError: There is no answer, an answer is about no pair of the set, or two files have answers of one
            person.
    """
    found: dict[tuple[str, str], PairLabel] = {}
    for path in files:
        labels = read_log(path, PairLabel)
        check_known((label.pair_id for label in labels), pairs, path)
        if twice := sorted({name for _, name in found} & {label.annotator for label in labels}):
            raise AnswerFileError(f"{path} has answers of {twice[0]}, and so does another file: name each person once")
        found.update({(label.pair_id, label.annotator): label for label in labels})
    if not found:
        raise AnswerFileError(
            f"{', '.join(map(str, files))}: no answer yet. Collect them with judge-r1 audit serve {folder}"
        )
    return found
