"""Corpus rows: texts are cleaned; errors name the row, the column and the existing columns."""

from pathlib import Path

import pytest
from source_factories import write_rows

from data_builders.sources.corpus_io import CorpusRow, SourceError, corpus_rows
from judge_r1.files.tabular import BadTable


def test_rows_are_read_by_column(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "t.jsonl", [{"id": 1, "text": " x ", "empty": None}, {"id": 2, "text": "y"}])
    first, second = corpus_rows(tmp_path, "toy")
    assert (first.name("id"), first.text("text"), first.text("empty")) == ("1", "x", "")
    assert (second.file, second.number, second.where) == (str(file), 2, f"{file}, line 2")


def test_without_a_path_the_corpus_is_read_from_the_hub(tmp_path: Path) -> None:
    """`datasets` loads a folder by the same call as a hub name, which tests cannot reach."""
    write_rows(tmp_path / "train.jsonl", [{"text": "x"}])
    assert [row.text("text") for row in corpus_rows(None, "toy", str(tmp_path))] == ["x"]
    with pytest.raises(SourceError, match="source 'toy' reads a corpus from disk: give path=PATH"):
        corpus_rows(None, "toy", None)


def test_an_invalid_column_error_lists_the_existing_ones() -> None:
    row = CorpusRow("f.jsonl", 3, "f.jsonl, line 3", "f", {"case_promt": "x", "title": 4, "n": 5, "yes": True})
    with pytest.raises(
        BadTable,
        match=r"f\.jsonl, line 3: column 'case_prompt' is missing; did you mean 'case_promt'\? "
        r"The columns are: case_promt, title, n, yes$",
    ):
        row.text("case_prompt")
    with pytest.raises(BadTable, match=r"line 3: column 'title' must hold text, not int; the columns are: case_promt"):
        row.text("title")
    assert row.label("n") == "5"
    with pytest.raises(BadTable, match="column 'yes' must hold text, not bool"):
        row.label("yes")
