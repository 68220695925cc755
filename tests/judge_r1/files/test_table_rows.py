import json
from pathlib import Path
from typing import Any

import pytest
from benchmark_factories import write

from judge_r1.files.tabular import BadTable, Row, file_rows, first_file, rows

ROWS = [{"id": 1, "text": "x", "list": ["a", "b"]}, {"id": 2, "text": "y", "list": []}]


def test_typed_values_of_the_selected_splits(tmp_path: Path) -> None:
    write(tmp_path / "u.jsonl", [{"id": 3}])
    file = write(tmp_path / "t.jsonl", ROWS)
    found = list(rows(tmp_path, ("t",)))
    assert [(row.integer("id"), row.text("text"), row.texts("list")) for row in found] == [
        (1, "x", ["a", "b"]), (2, "y", []),
    ]  # fmt: skip
    assert {row.split for row in found} == {"t"}
    assert found[1].where == f"{file}, line 2"


@pytest.mark.parametrize(
    ("values", "column", "kind", "message"),
    [
        (
            {"promt": "x"},
            "prompt",
            "text",
            "line 7: column 'prompt' is missing; did you mean 'promt'? The columns are: promt",
        ),
        ({}, "prompt", "text", "'prompt' is missing; the columns are: none"),
        ({"a": None}, "a", "text", "'a' must hold text, not NoneType"),
        ({"a": 1.5}, "a", "name", "'a' must hold text, not float"),
        ({"a": " "}, "a", "name", "'a' must not be empty"),
        ({"a": "1"}, "a", "integer", "'a' must hold a whole number, not str"),
        ({"a": True}, "a", "integer", "not true or false"),
        ({"a": ["x", 1]}, "a", "texts", "'a' must hold a list of texts"),
        ({"a": "x"}, "a", "texts", "'a' must hold a list of texts, not str"),
    ],
)
def test_a_value_of_the_wrong_type_raises(values: dict[str, Any], column: str, kind: str, message: str) -> None:
    with pytest.raises(BadTable) as error:
        getattr(Row("f", 7, "f, line 7", "f", values), kind)(column)
    assert message in str(error.value)


def test_an_unknown_label_raises() -> None:
    row = Row("f", 7, "f, line 7", "f", {"label": 2})
    assert row.one_of("label", {"1": "A", "2": "B"}) == "B"
    with pytest.raises(BadTable, match="'label' must be one of x, y, not '2'"):
        row.one_of("label", {"x": "A", "y": "B"})


def test_first_file(tmp_path: Path) -> None:
    file = write(tmp_path / "data" / "t.json", ROWS)
    assert first_file(tmp_path, "t.json", "data/t.json") == first_file(file, "t.json") == file
    assert len(list(file_rows(file))) == len(json.loads(file.read_text()))
    with pytest.raises(BadTable, match=r"must be a file, or a folder that holds u\.json or v\.json"):
        first_file(tmp_path, "u.json", "v.json")
