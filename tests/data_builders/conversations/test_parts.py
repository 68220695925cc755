"""Parts of a folder of conversations: a split by document, and a band of difficulty."""

import json
from pathlib import Path

import pytest
from rating_folder import write_rating
from typer.testing import CliRunner

from data_builders.build import build, write_pairs
from data_builders.conversations.parts import split_conversations, write_part
from data_builders.validate import validate
from judge_r1.cli import app
from judge_r1.core.errors import JudgeError
from judge_r1.files.pair_set import load_pairs
from judge_r1.files.transcripts import read_conversations


def run(*words: object) -> str:
    found = CliRunner().invoke(app, [str(word) for word in words])
    return found.output + str(found.exception or "")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("parts") / "data"
    build("mini-conversations", out, variants=3, limit=20)
    return out


def test_a_split_keeps_documents_together(folder: Path, tmp_path: Path) -> None:
    output = run("split", folder, "--test-share", 0.2, "--dev-share", 0.1, "--out", tmp_path)
    assert "test: 12 pairs of 4 documents" in output
    parts = {name: read_conversations(tmp_path / name) for name in ("train", "dev", "test")}
    documents = [set(found[1]) for found in parts.values()]
    assert sum(map(len, documents)) == len(set().union(*documents)) == 20
    whole = {pair.pair_id: pair for pair in read_conversations(folder)[0]}
    assert {pair.pair_id: pair for found in parts.values() for pair in found[0]} == whole
    assert all(validate(tmp_path / name).good for name in parts)
    assert "test: 12 pairs" in run("export", tmp_path, "--format", "trl", "--out", tmp_path / "trl")
    refused = run("split", folder, "--test-share", 0.5, "--out", tmp_path)
    assert (
        "holds a split with --test-share 0.2 and --dev-share 0.1, and this one has --test-share 0.5 and no" in refused
    )
    card = (tmp_path / "trl" / "README.md").read_text()
    assert "test_share 0.2" in card
    split_conversations(folder, tmp_path / "again", 0.2, dev_share=0.1)
    again = {pair.pair_id for pair in read_conversations(tmp_path / "again" / "test")[0]}
    assert again == {pair.pair_id for pair in parts["test"][0]}


def test_near_duplicate_documents_stay_together(folder: Path, tmp_path: Path) -> None:
    """Five groups of documents that differ in one word at the end."""
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    lines = [json.loads(line) for line in (folder / "documents.jsonl").read_text().splitlines()]
    texts = [line["context"] for line in lines[:5]]
    for number, line in enumerate(lines):
        line["context"] = f"{texts[number % 5]} {number}"
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    counts = split_conversations(tmp_path, tmp_path / "split", 0.2)
    assert counts["test"]["documents"] == 4
    starts = [
        {document.context.rpartition(" ")[0] for document in read_conversations(tmp_path / "split" / name)[1].values()}
        for name in ("train", "test")
    ]
    assert [len(found) for found in starts] == [4, 1]


def test_a_band_of_difficulty(folder: Path, tmp_path: Path) -> None:
    ids = sorted(pair.pair_id for pair in read_conversations(folder)[0])
    elo = {pair_id: 1000.0 + number if number < 50 else None for number, pair_id in enumerate(ids)}
    items = write_rating(tmp_path / "rating", elo)
    output = run("select", folder, "--rating", items, "--band", "0,0.2", "--out", tmp_path / "hard")
    assert "10 pairs, Elo 1040 to 1049" in output
    assert {pair.pair_id for pair in read_conversations(tmp_path / "hard")[0]} == set(ids[40:50])
    assert validate(tmp_path / "hard").good
    run("select", folder, "--rating", items, "--band", "0.4,1", "--pairs", 7, "--out", tmp_path / "easy")
    easy = {pair.pair_id for pair in read_conversations(tmp_path / "easy")[0]}
    assert len(easy) == 7
    assert easy < set(ids[:30])
    assert "holds 10" in run(
        "select", folder, "--rating", items, "--band", "0,0.2", "--pairs", 11, "--out", tmp_path / "x"
    )
    assert "the smaller one first" in run("select", folder, "--rating", items, "--band", "1,0", "--out", tmp_path / "x")
    assert "takes two shares" in run("select", folder, "--rating", items, "--band", "hard", "--out", tmp_path / "x")
    other = write_rating(tmp_path / "other", {"x": 1500.0})
    assert "gives none of the pairs an Elo" in run("select", folder, "--rating", other, "--out", tmp_path / "x")


def test_a_band_of_pairs_of_reasonings(tmp_path: Path) -> None:
    build("mini", tmp_path / "data", variants=1, limit=3)
    data = load_pairs(tmp_path / "data")
    write_pairs(data, tmp_path / "data")
    ids = [pair.pair_id for pair in data.pairs]
    items = write_rating(tmp_path / "rating", dict(zip(ids, map(float, range(1000, 1000 + len(ids))), strict=True)))
    run("select", tmp_path / "data", "--rating", items, "--band", "0.5,1", "--out", tmp_path / "easy")
    easy = load_pairs(tmp_path / "easy")
    assert {pair.pair_id for pair in easy.pairs} == set(ids[: len(ids) - round(len(ids) / 2)])
    assert {pair.case_id for pair in easy.pairs} == set(easy.cases)


def test_what_conversations_are_not_split_by(folder: Path, tmp_path: Path) -> None:
    for more in (("--sizes", "10"), ("--model", "bundled:tiny"), (folder,)):
        assert "are split from one folder by --test-share" in run("split", folder, *more, "--out", tmp_path)
    with pytest.raises(JudgeError, match="give another --out"):
        write_part(folder, folder, [])
