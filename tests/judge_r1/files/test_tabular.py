"""Rows of files of every format and of `datasets`, and the position in error messages."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from judge_r1.files.tabular import BATCH, BadTable, rows

ROWS = [{"id": f"n{number}", "text": f'line "{number}",\nand another'} for number in range(BATCH + 5)]


def write(path: Path, data: list[dict[str, Any]]) -> Path:
    """Writes rows in the format of the file name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in data)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(data), path)
    elif path.suffix == ".csv":
        with path.open("w", newline="") as out:
            writer = csv.DictWriter(out, list(data[0]))
            writer.writeheader()
            writer.writerows(data)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines.encode()))
    else:
        path.write_text(lines if path.suffix == ".jsonl" else json.dumps(data))
    return path


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.json", "t.csv", "t.parquet"])
def test_every_kind_of_table_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / name, ROWS)
    found = list(rows(file))
    assert [row.values for row in found] == ROWS
    assert [row.number for row in found] == list(range(1, len(ROWS) + 1))
    assert {(row.file, row.split) for row in found} == {(str(file), "t")}
    assert found[1].where == f"{file}, {'line' if 'jsonl' in name else 'row'} 2"


@pytest.mark.parametrize(
    ("before", "delimiter"), [("", ";"), ("\ufeff", ";"), ("sep=;\r\n", ";"), ("\ufeffsep=,\n", ","), ("", "\t")]
)
def test_tables_of_other_countries_give_the_same_rows(before: str, delimiter: str, tmp_path: Path) -> None:
    """Where the decimal sign is a comma; spreadsheets add a mark or a line `sep=;`."""
    with (tmp_path / "t.csv").open("w", newline="") as out:
        out.write(before)
        writer = csv.DictWriter(out, ["id", "text"], delimiter=delimiter)
        writer.writeheader()
        writer.writerows([{"id": row["id"], "text": row["text"]} for row in ROWS])
    assert [row.values["text"] for row in rows(tmp_path)] == [row["text"] for row in ROWS]


def test_signs_inside_a_column_name_do_not_separate_columns(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,question (a; b; c)\n1,x\n2,y; z\n")
    assert [row.values for row in rows(tmp_path)] == [
        {"id": "1", "question (a; b; c)": "x"}, {"id": "2", "question (a; b; c)": "y; z"},
    ]  # fmt: skip


def test_empty_lines_count_as_lines_and_not_as_rows(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n')
    assert [(row.number, row.where) for row in rows(tmp_path)][1] == (2, f"{tmp_path / 't.jsonl'}, line 3")


def test_a_folder_is_read_by_file_name(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl"):
        write(tmp_path / name, [{"id": name}])
    (tmp_path / "README.md").write_text("not a table")
    assert [row.values["id"] for row in rows(tmp_path)] == ["a.jsonl", "b.jsonl"]


@pytest.mark.parametrize("name", ["b.jsonl", "b.jsonl.gz", "b.json", "b.csv"])
def test_an_empty_table_of_a_folder_is_an_error(name: str, tmp_path: Path) -> None:
    """Otherwise a part of the data would be missing without a word."""
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n')
    content = {"b.json": b"[]", "b.csv": b"x\n", "b.jsonl.gz": gzip.compress(b"\n")}.get(name, b"")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadTable, match=rf"{name} has no rows"):
        list(rows(tmp_path))


def test_splits_and_the_data_subfolder(tmp_path: Path) -> None:
    write(tmp_path / "notes.json", [{"id": 9}])
    write(tmp_path / "data" / "filtered-00000-of-00002-abc.parquet", [{"id": 1}])
    write(tmp_path / "data" / "filtered-00001-of-00002-abc.parquet", [{"id": 2}])
    write(tmp_path / "data" / "raw-00000-of-00001.parquet", [{"id": 1}, {"id": 2}])
    assert [(row.values["id"], row.split) for row in rows(tmp_path, ("filtered",))] == [
        (1, "filtered"),
        (2, "filtered"),
    ]
    assert len(list(rows(tmp_path))) == 4
    with pytest.raises(BadTable, match=r"has no table named test; available: filtered, raw$"):
        list(rows(tmp_path, ("test",)))


def test_hub_data_sets_are_read_with_load_dataset(tmp_path: Path) -> None:
    """Without network: `load_dataset` reads a folder by the same call as a name on the hub."""
    write(tmp_path / "train.jsonl", [{"id": 1, "list": ["a", "b"]}, {"id": 2, "list": []}])
    write(tmp_path / "test.jsonl", [{"id": 3, "list": ["c"]}])
    found = list(rows(Path(f"hub:{tmp_path}")))
    assert [(row.split, row.values["id"]) for row in found] == [("test", 3), ("train", 1), ("train", 2)]
    assert (found[2].number, found[2].where) == (2, f"hub:{tmp_path}, split train, row 2")
    assert found[0].values["list"] == ["c"]
    assert [row.values["id"] for row in rows(Path(f"hub:{tmp_path}"), ("test",))] == [3]
    with pytest.raises(BadTable, match="has no split filtered; available: test, train"):
        list(rows(Path(f"hub:{tmp_path}"), ("filtered",)))


def test_an_unreachable_hub_raises_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BadTable, match=r"some/where could not be read from the hub .* give --path"):
        list(rows(Path("hub:some/where")))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.jsonl", b'{"a": 1}\n\n{"a": \n', r"t\.jsonl, line 3 is not valid JSON"),
        ("t.jsonl", b'{"a": "\xff"}\n', r"t\.jsonl, line 1 is not valid JSON"),
        ("t.jsonl", b'{"a": 1}\n[2]\n', r"t\.jsonl, line 2: must be an object of columns, not list"),
        ("t.jsonl", b"\n", r"t\.jsonl has no rows"),
        ("t.jsonl.gz", b"\x1f\x8b\x08\x00", r"t\.jsonl\.gz cannot be read"),
        ("t.jsonl.gz", b"plain text", r"t\.jsonl\.gz cannot be read: Not a gzipped file"),
        ("t.jsonl.gz", gzip.compress(b"{}", mtime=0)[:10] + b"\xff" * 20, r"t\.jsonl\.gz cannot be read"),
        ("t.json", b'{"a": 1}', r"t\.json must hold a list of rows, not dict"),
        ("t.json", b"[", r"t\.json is not valid JSON"),
        ("t.parquet", b"PAR1", r"t\.parquet is not a parquet table"),
        ("t.csv", b"a,b\n1,2\n3\n", r"t\.csv, row 2: has more or fewer values"),
        ("t.csv", b"a,b\n1,2,3\n", r"t\.csv, row 1: has more or fewer values"),
        ("t.csv", b"a,b,a\n1,2,3\n", r"t\.csv has 2 columns named 'a': rename or remove one"),
        ("t.csv", b"a\n\xff\n", r"t\.csv is not a CSV table"),
        ("t.txt", b"a,b", r"t\.txt is not a table: its name must end in"),
    ],
)
def test_a_damaged_table_raises_with_its_line(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadTable, match=message):
        list(rows(tmp_path / name))


def test_a_parquet_table_with_two_columns_of_one_name_raises(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pyarrow.table([[1], [2]], names=["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(BadTable, match=r"t\.parquet has 2 columns named 'a': rename or remove one"):
        list(rows(tmp_path / "t.parquet"))


@pytest.mark.parametrize(("path", "message"), [("nowhere", "does not exist"), ("", "holds no table: expected")])
def test_a_path_without_tables_raises(path: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadTable, match=message):
        list(rows(tmp_path / path))
