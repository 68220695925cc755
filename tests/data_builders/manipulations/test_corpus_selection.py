"""Corpora are selected by metadata, and described by a table and charts (thesis, section 3.1)."""

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from data_builders.audit.document_stats import document_stats, stats_figures, stats_grid
from data_builders.manipulations.corpus import CorpusRules, full_document, read_folder, shorter
from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.files.tabular import BadTable

METADATA = "file,year,genre,author\na.txt,1905,fiction,Ann\nb.txt,1890,fiction,Ben\nc.txt,1911,Poems and songs,Cid\n"


@pytest.fixture
def books(tmp_path: Path) -> Path:
    for name in "abcd":
        (tmp_path / f"{name}.txt").write_text(f"Book {name}. It rained.\n\nShe left.", encoding="utf-8")
    (tmp_path / "metadata.csv").write_text(METADATA)
    return tmp_path


def test_texts_are_left_out_by_year_and_genre(books: Path) -> None:
    skipped = Counter[str]()
    (found,) = read_folder(books, CorpusRules(from_year=1900, without=("poem", "play")), skipped)
    assert (found.title, found.meta) == ("a", {"genre": "fiction", "author": "Ann", "year": 1905})
    assert skipped == {"before 1900": 1, "genre or title has 'poem'": 1, "no year": 1}
    assert len(list(read_folder(books, CorpusRules(), skipped))) == 4
    (books / "metadata.csv").write_text(METADATA.replace("1905", "about 1905"))
    with pytest.raises(BadTable, match="row 1: column 'year' must be a year, not 'about 1905'"):
        list(read_folder(books, CorpusRules(), skipped))
    (books / "metadata.csv").unlink()
    with pytest.raises(JudgeError, match=r"has no metadata\.csv or metadata\.jsonl"):
        list(read_folder(books, CorpusRules(from_year=1900), skipped))


def test_the_table_counts_full_documents_by_hand() -> None:
    texts = [
        ("One two three.\n\nFour.", {"year": 1905, "genre": "fiction"}),
        ("Five six.", {"year": 1911, "genre": "history"}),
    ]
    documents = [
        full_document("t", text, source="s", license="l").model_copy(update={"meta": meta}) for text, meta in texts
    ]
    found = document_stats([*documents, shorter(documents[0], "One two", 2)], len, None)
    assert found == {
        "documents": 2, "years": [1905, 1911], "genres": {"fiction": 1, "history": 1},
        "decades": {"1900s": 1, "1910s": 1}, "characters": 15.0, "whitespace_tokens": 3.0, "tokens": 15.0,
        "sentences": None, "paragraphs": 1.5,
    }  # fmt: skip
    assert ("years", "1905–1911") in stats_grid(found, "len").rows
    assert [figure.title for figure in stats_figures(found)] == ["Documents by decade", "Documents by genre"]
    with pytest.raises(JudgeError, match="no full document"):
        document_stats([], len, None)


def test_the_command(books: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    build = ["build", "cofluence", f"path={books}", "options.types=typos", "options.lengths=full", "--out", str(out)]
    assert CliRunner().invoke(app, [*build, "options.intensity.typos=[20,40]"]).exit_code == 0
    result = CliRunner().invoke(app, ["stats", str(out), "--tokenizer", "bundled:smollm2-135m"])
    assert result.exit_code == 0, result.output
    assert json.loads((out / "documents.json").read_text())["decades"] == {"1890s": 1, "1900s": 1, "1910s": 1}
    assert (out / "documents-documents-by-genre.svg").exists()
