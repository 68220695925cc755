"""`judge-r1 build conversations`, from documents to training files."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from data_builders.build import build
from data_builders.conversations.documents import read_documents
from data_builders.validate import validate
from judge_r1.benchmarks.rankjudge.prompt import read_pairwise
from judge_r1.cli import app
from judge_r1.core.conversations import ConversationPair, Verification
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.verdicts import LocatedVerdict


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("conversations") / "data"
    build("conversations", out, variants=2, limit=20)
    return out


def test_cascade(folder: Path) -> None:
    report = json.loads((folder / "build.json").read_text())
    verified = list(read_jsonl(folder / "verification.jsonl", Verification))
    pairs = list(read_jsonl(folder / "conversations.jsonl", ConversationPair))
    whole = report["cascade"]["all"]
    assert whole["candidates"] == len(verified) == 40
    assert whole["kept"] == len(pairs) == sum(found.failed is None for found in verified)
    for name in ("by_domain", "by_failure", "by_user"):
        for key, value in whole.items():
            assert sum(row[key] for row in report["cascade"][name].values()) == value
    assert sum(row["kept"] for row in report["cascade"]["cells"]) == len(pairs)


def test_the_same_bytes_again(folder: Path, tmp_path: Path) -> None:
    build("conversations", tmp_path, variants=2, limit=20)
    for name in ("documents.jsonl", "conversations.jsonl", "verification.jsonl", "build.json"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_a_part_of_the_documents_gives_the_same_pairs(folder: Path, tmp_path: Path) -> None:
    build("conversations", tmp_path, variants=2, limit=10)
    whole = {pair.pair_id: pair for pair in read_jsonl(folder / "conversations.jsonl", ConversationPair)}
    part = list(read_jsonl(tmp_path / "conversations.jsonl", ConversationPair))
    assert part
    assert all(whole[pair.pair_id] == pair for pair in part)


def test_validate(folder: Path, tmp_path: Path) -> None:
    assert validate(folder).good
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    pair = next(iter(read_jsonl(folder / "conversations.jsonl", ConversationPair)))
    lines = (tmp_path / "documents.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "documents.jsonl").write_text("".join(line for line in lines if pair.document_id not in line))
    assert not validate(tmp_path).good


@pytest.mark.parametrize("name", ["sft", "trl"])
def test_export(folder: Path, tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(app, ["export", str(folder), "--format", name, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    pairs = {pair.pair_id: pair for pair in read_jsonl(folder / "conversations.jsonl", ConversationPair)}
    if name == "sft":
        rows = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text().splitlines()]
        assert len(rows) == len(pairs)
        for row in rows:
            pair = pairs[row["pair_id"]]
            expected = LocatedVerdict(winner=pair.preferred, round=pair.flawed_round, failure=pair.failure)
            assert read_pairwise(row["output"]) == expected
            assert "Round 1, USER:" in row["input"]
    card = (tmp_path / "README.md").read_text()
    assert "Pairs of conversations for judges" in card


def test_the_command_prints_the_cascade(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["build", "conversations", "--limit", "8", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "Verifier: where candidates fail first" in result.output


def test_a_folder_of_texts(tmp_path: Path) -> None:
    """The same pairs as from a table with the same texts, up to their ids; a bad text is one sentence."""
    texts = {f"{number}.txt": document.context for number, document in enumerate(read_documents(None, 3))}
    (tmp_path / "texts").mkdir()
    for name, text in texts.items():
        (tmp_path / "texts" / name).write_text(text, encoding="utf-8")
    found = list(read_documents(tmp_path / "texts", None))
    assert {document.source: document.context for document in found} == texts
    assert len({document.document_id for document in found}) == 3
    (tmp_path / "texts" / "4.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(JudgeError, match=r"4\.txt cannot be read: it is not in UTF-8"):
        list(read_documents(tmp_path / "texts", None))
    (tmp_path / "texts" / "4.txt").write_text(" ")
    with pytest.raises(JudgeError, match=r"4\.txt is empty"):
        list(read_documents(tmp_path / "texts", None))
    (tmp_path / "texts" / "table.jsonl").write_text('{"id": "1", "context": "From the table."}\n')
    assert [document.context for document in read_documents(tmp_path / "texts", None)] == ["From the table."]
    for context, problem in (("5", "must hold text, not int"), ('" "', "must not be empty")):
        (tmp_path / "texts" / "table.jsonl").write_text(f'{{"id": "1", "context": {context}}}\n')
        with pytest.raises(JudgeError, match=f"line 1: column 'context' {problem}"):
            list(read_documents(tmp_path / "texts", None))


def test_a_build_without_a_pair_says_why(tmp_path: Path) -> None:
    table = tmp_path / "short.jsonl"
    table.write_text('{"id": "1", "context": "A short text. It has two sentences."}\n')
    with pytest.raises(JudgeError, match=r"no conversation pair .*rejected: coherence: .* \(\d\)"):
        build("conversations", tmp_path / "out", path=table, variants=3)
    assert not (tmp_path / "out" / "build.json").exists()
