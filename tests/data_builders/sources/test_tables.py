"""Rows from files of every kind and from `datasets`: the same rows, and every mistake named with its row and column."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_toys import write_rows

from data_builders.sources.errors import SourceError
from data_builders.sources.tables import BATCH, Row, file_rows, rows

ROWS = [{"id": f"n{number}", "text": f'line "{number}",\nand another', "empty": None} for number in range(BATCH + 5)]


def write_json(file: Path) -> None:
    file.write_text(json.dumps(ROWS))


def write_csv(file: Path) -> None:
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)


def write_parquet(file: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), file)


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        (".jsonl", lambda file: write_rows(file, ROWS)),
        (".json", write_json),
        (".csv", write_csv),
        (".parquet", write_parquet),
    ],
)
def test_every_kind_of_file_gives_the_same_rows(suffix: str, write: Callable[[Path], None], tmp_path: Path) -> None:
    file = tmp_path / f"t{suffix}"
    write(file)
    found = list(rows(file, "toy", None))
    assert [(row.number, row.text("id"), row.text("text"), row.text("empty")) for row in found] == [
        (number, row["id"], row["text"], "") for number, row in enumerate(ROWS, 1)
    ]
    assert found[1].where == f"{file}, row 2"


def test_a_folder_is_read_by_file_name(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl"):
        write_rows(tmp_path / name, [{"id": name}])
    (tmp_path / "README.md").write_text("not a table")
    assert [row.text("id") for row in rows(tmp_path, "toy", None)] == ["a.jsonl", "b.jsonl"]


def test_load_dataset_is_what_reads_the_hub(tmp_path: Path) -> None:
    """`datasets` finds a folder by the same call as a name on the hub, which no test can reach."""
    write_rows(tmp_path / "train.jsonl", [{"id": "1", "text": "x"}, {"id": "2", "text": "y"}])
    write_rows(tmp_path / "test.jsonl", [{"id": "3", "text": "z"}])
    found = list(rows(Path(f"hub:{tmp_path}"), "toy", None))
    assert [row.text("id") for row in found] == ["3", "1", "2"]
    assert found[2].where == f"hub:{tmp_path}, split train, row 2"
    assert [row.text("text") for row in rows(None, "toy", str(tmp_path))] == ["z", "x", "y"]


def test_a_hub_that_does_not_answer_is_named_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(SourceError, match=r"source 'toy': some/where could not be read from the hub .* give --path"):
        list(rows(None, "toy", "some/where"))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (None, "source 'toy' reads a corpus from disk: give --path"),
        ("nowhere", "nowhere does not exist; --path must be a file, a folder of files, or hub:OWNER/NAME"),
        ("", "holds no table: expected .jsonl, .json, .csv, .parquet"),
        ("x.txt", "x.txt holds no table"),
    ],
)
def test_a_place_without_tables_is_named(path: str | None, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(SourceError, match=message):
        list(rows(None if path is None else tmp_path / path, "toy", None))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.jsonl", b'{"a": 1}\n\n{"a": \n', r"t\.jsonl, line 3 is not valid JSON"),
        ("t.jsonl", b'{"a": "\xff"}\n', r"t\.jsonl, line 1 is not valid JSON"),
        ("t.jsonl", b'{"a": 1}\n[2]\n', r"t\.jsonl, row 2: must be an object of columns, not list"),
        ("t.json", b'{"a": 1}', r"t\.json must hold a list of rows, not dict"),
        ("t.json", b"[", r"t\.json is not valid JSON"),
        ("t.csv", b"a,b\n1,2\n3\n", r"t\.csv, row 2: has more or fewer values"),
        ("t.csv", b"a,b\n1,2,3\n", r"t\.csv, row 1: has more or fewer values"),
        ("t.csv", b"a\n\xff\n", r"t\.csv is not a CSV table"),
        ("t.parquet", b"PAR1", r"t\.parquet is not a parquet table"),
    ],
)
def test_a_damaged_table_is_named_with_its_row(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SourceError, match=message):
        list(file_rows(tmp_path / name))


def test_a_wrong_column_is_named_with_those_there_are() -> None:
    row = Row("f.jsonl", 3, {"case_promt": "x", "title": 4, "n": 5, "yes": True})
    with pytest.raises(
        SourceError,
        match=r"f\.jsonl, row 3: column 'case_prompt' is missing; did you mean 'case_promt'\?; "
        r"the columns are: case_promt, title, n, yes$",
    ):
        row.text("case_prompt")
    with pytest.raises(
        SourceError, match=r"row 3: column 'title' must hold text, not int; the columns are: case_promt"
    ):
        row.text("title")
    assert row.name("n") == "5"
    with pytest.raises(SourceError, match="column 'yes' must hold text, not bool"):
        row.name("yes")


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.text(st.characters(codec="utf-8"))), max_size=5))
def test_json_lines_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, data: list[dict[str, Any]]
) -> None:
    file = write_rows(tmp_path_factory.mktemp("t") / "t.jsonl", data)
    assert [dict(row.values) for row in file_rows(file)] == data
