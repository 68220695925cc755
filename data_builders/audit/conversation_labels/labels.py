"""Draws conversation pairs for people who check their labels, and reads what they say (RankJudge, section 3.3).

The sample is uniform: how judges did on a pair plays no role, so the share of wrong labels is that of the whole set.
"""

from pathlib import Path
from random import Random
from typing import Literal, get_args

from pydantic import Field

from data_builders.audit.annotation.record_log import AnnotatorName, Note
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
