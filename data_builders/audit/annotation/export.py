"""Exports answers with the labels of their pairs, as CSV or JSON Lines."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from data_builders.audit.annotation.choices import Choice, load_choices
from data_builders.audit.annotation.record_log import AnswerFileError
from judge_r1.core.jsonl import write_atomic, write_jsonl
from judge_r1.core.pair_set import PairSet

COLUMNS = (
    "annotator", "round", "domain", "case_id", "pair_id", "kind", "violated", "label", "choice", "agrees",
    "principles", "shown_first", "note", "at", "counts",
)  # fmt: skip
FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets read a cell with such a prefix as a formula; CSV cells get an apostrophe before it."""


def export_answers(folder: Path, answers: Path, out: Path) -> int:
    """Write the answers about the pairs of a folder to `out`; return their number."""
    if out.resolve() == answers.resolve():
        raise AnswerFileError(f"{out} is the file of answers: pass another output file")
    return export(*load_choices(folder, answers), out)


def export(data: PairSet, answers: Sequence[Choice], path: Path) -> int:
    """Write all answers to a .csv or .jsonl file; return their number. `counts` is false for replaced answers."""
    rows = list(_rows(data, answers))
    if path.suffix == ".jsonl":
        return write_jsonl(path, rows)
    if path.suffix != ".csv":
        raise AnswerFileError(f"{path} must end in .csv or .jsonl")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    write_atomic(path, [text.getvalue()])
    return len(rows)


def _rows(data: PairSet, answers: Sequence[Choice]) -> Iterator[dict[str, Any]]:
    pairs = data.by_id()
    last = {(a.annotator, a.round, a.pair_id): number for number, a in enumerate(answers)}
    for number, answer in enumerate(answers):
        pair = pairs[answer.pair_id]
        values = (
            answer.annotator, answer.round, pair.domain, pair.case_id, pair.pair_id, pair.kind, list(pair.violated),
            pair.preferred, answer.choice, answer.choice == pair.preferred, list(answer.principles),
            answer.shown_first, answer.note, answer.at, last[answer.annotator, answer.round, answer.pair_id] == number,
        )  # fmt: skip
        yield dict(zip(COLUMNS, values, strict=True))


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{text}" if text.startswith(FORMULA_PREFIXES) else text
