"""Exports contain every answer with its label; notes cannot become spreadsheet formulas."""

import csv
import json
from pathlib import Path

import pytest
from audit_factories import choose, sample_pairs

from data_builders.audit.annotation.choices import Choice
from data_builders.audit.annotation.export import COLUMNS, export, export_answers
from data_builders.audit.annotation.record_log import AnswerFileError, RecordLog
from data_builders.build import write_pairs

DATA = sample_pairs(3)
PAIR = DATA.pairs[0]
ANSWERS = [
    choose(PAIR, False).model_copy(update={"note": "=1+1", "principles": (2, 4)}),
    choose(PAIR, True).model_copy(update={"note": 'say "no",\nthen go'}),
    choose(DATA.pairs[1], True, "Ben"),
]


def test_csv_has_all_fields(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    assert export(DATA, ANSWERS, path) == 3
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [row["agrees"] for row in rows] == ["false", "true", "true"]
    assert [row["counts"] for row in rows] == ["false", "true", "true"]
    assert rows[0]["note"] == "'=1+1"
    assert rows[0]["principles"] == "2 4"
    assert rows[0]["violated"] == "2"
    assert rows[1]["note"] == 'say "no",\nthen go'
    assert rows[2]["annotator"] == "Ben"


def test_json_lines_keep_text_and_lists(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    assert export(DATA, ANSWERS, path) == 3
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert rows[0]["note"] == "=1+1"
    assert rows[0]["principles"] == [2, 4]
    assert rows[0]["label"] == PAIR.preferred != rows[0]["choice"]


def test_another_suffix_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AnswerFileError, match=r"must end in .csv or .jsonl"):
        export(DATA, ANSWERS, tmp_path / "answers.xlsx")
    assert not list(tmp_path.iterdir())


def test_the_answers_are_not_overwritten(tmp_path: Path) -> None:
    write_pairs(DATA, tmp_path)
    path = tmp_path / "answers.jsonl"
    with RecordLog(path, Choice) as log:
        log.append(ANSWERS[0])
    before = path.read_bytes()
    with pytest.raises(AnswerFileError, match="pass another output file"):
        export_answers(tmp_path, path, tmp_path / "." / "answers.jsonl")
    assert path.read_bytes() == before
    assert export_answers(tmp_path, path, tmp_path / "out.csv") == 1
