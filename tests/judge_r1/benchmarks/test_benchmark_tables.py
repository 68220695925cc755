import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from benchmark_toys import write

from judge_r1.benchmarks import BadBenchmark
from judge_r1.benchmarks.tables import Row, objects, one_file, rows

ROWS = [{"id": 1, "text": "x", "list": ["a", "b"]}, {"id": 2, "text": "y", "list": []}]


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz", "t.json", "t.parquet"])
def test_every_kind_of_table_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    found = list(rows(write(tmp_path / name, ROWS)))
    assert [(row.number("id"), row.text("text"), row.texts("list")) for row in found] == [
        (1, "x", ["a", "b"]), (2, "y", []),
    ]  # fmt: skip
    assert {row.split for row in found} == {"t"}
    assert found[1].where == f"{tmp_path / name}, {'line' if 'jsonl' in name else 'row'} 2"


def test_a_folder_is_read_by_split_and_its_data_folder_first(tmp_path: Path) -> None:
    write(tmp_path / "notes.json", [{"id": 9}])
    write(tmp_path / "data" / "filtered-00000-of-00002-abc.parquet", ROWS[:1])
    write(tmp_path / "data" / "filtered-00001-of-00002-abc.parquet", ROWS[1:])
    write(tmp_path / "data" / "raw-00000-of-00001.parquet", ROWS)
    assert [(row.number("id"), row.split) for row in rows(tmp_path, ("filtered",))] == [
        (1, "filtered"),
        (2, "filtered"),
    ]
    assert len(list(rows(tmp_path))) == 4
    with pytest.raises(BadBenchmark, match=r"holds no table called test; there is: filtered, raw$"):
        list(rows(tmp_path, ("test",)))


def test_load_dataset_is_what_reads_the_hub(tmp_path: Path) -> None:
    """`datasets` finds a folder by the same call as a name on the hub, which no test can reach."""
    write(tmp_path / "train.jsonl", ROWS)
    write(tmp_path / "test.jsonl", [{"id": 3, "text": "z", "list": ["c"]}])
    found = list(rows(Path(f"hub:{tmp_path}")))
    assert [(row.split, row.number("id")) for row in found] == [("test", 3), ("train", 1), ("train", 2)]
    assert found[0].texts("list") == ["c"]
    assert [row.number("id") for row in rows(Path(f"hub:{tmp_path}"), ("test",))] == [3]
    with pytest.raises(BadBenchmark, match="has no split filtered; there is: test, train"):
        list(rows(Path(f"hub:{tmp_path}"), ("filtered",)))


def test_a_hub_that_does_not_answer_is_named_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(BadBenchmark, match=r"some/where could not be read from the hub .* give --path"):
        list(rows(Path("hub:some/where")))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.jsonl", b'{"a": 1}\n\n{"a": \n', r"t\.jsonl, line 3 is not valid JSON"),
        ("t.jsonl", b'{"a": "\xff"}\n', r"t\.jsonl, line 1 is not valid JSON"),
        ("t.jsonl", b'{"a": 1}\n[2]\n', r"t\.jsonl, line 2: must be an object of columns, not list"),
        ("t.jsonl", b"\n", r"t\.jsonl holds no rows"),
        ("t.jsonl.gz", b"\x1f\x8b\x08\x00", r"t\.jsonl\.gz cannot be read"),
        ("t.jsonl.gz", b"plain text", r"t\.jsonl\.gz cannot be read: Not a gzipped file"),
        ("t.jsonl.gz", gzip.compress(b"{}")[:10] + b"\xff" * 20, r"t\.jsonl\.gz cannot be read"),
        ("t.json", b'{"a": 1}', r"t\.json must hold a list of rows, not dict"),
        ("t.json", b"[", r"t\.json is not valid JSON"),
        ("t.parquet", b"PAR1", r"t\.parquet is not a parquet table"),
        ("t.csv", b"a,b", r"t\.csv is no table: its name must end in"),
    ],
)
def test_a_damaged_table_is_named_with_its_line(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadBenchmark, match=message):
        list(rows(tmp_path / name))


@pytest.mark.parametrize(("path", "message"), [("nowhere", "does not exist"), ("", "holds no table: expected")])
def test_a_place_without_tables_is_named(path: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadBenchmark, match=message):
        list(rows(tmp_path / path))


@pytest.mark.parametrize(
    ("values", "column", "kind", "message"),
    [
        ({"promt": "x"}, "prompt", "text", "f, line 7: 'prompt' is missing; did you mean 'promt'?; there is: promt"),
        ({}, "prompt", "text", "'prompt' is missing; there is: nothing"),
        ({"a": None}, "a", "text", "'a' must hold text, not NoneType"),
        ({"a": 1.5}, "a", "name", "'a' must hold text, not float"),
        ({"a": " "}, "a", "name", "'a' must not be empty"),
        ({"a": "1"}, "a", "number", "'a' must hold a whole number, not str"),
        ({"a": True}, "a", "number", "not true or false"),
        ({"a": ["x", 1]}, "a", "texts", "'a' must hold a list of texts"),
        ({"a": "x"}, "a", "texts", "'a' must hold a list of texts, not str"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(values: dict[str, Any], column: str, kind: str, message: str) -> None:
    with pytest.raises(BadBenchmark) as error:
        getattr(Row("f, line 7", "f", values), kind)(column)
    assert message in str(error.value)


def test_a_word_without_a_meaning_is_named() -> None:
    row = Row("f, line 7", "f", {"label": 2})
    assert row.one_of("label", {"1": "A", "2": "B"}) == "B"
    with pytest.raises(BadBenchmark, match="'label' must be one of x, y, not '2'"):
        row.one_of("label", {"x": "A", "y": "B"})


def test_one_file_of_several_places(tmp_path: Path) -> None:
    file = write(tmp_path / "data" / "t.json", ROWS)
    assert one_file(tmp_path, "t.json", "data/t.json") == one_file(file, "t.json") == file
    assert len(list(objects(file))) == len(json.loads(file.read_text()))
    with pytest.raises(BadBenchmark, match=r"must be a file, or a folder that holds u\.json or v\.json"):
        one_file(tmp_path, "u.json", "v.json")
