"""Folders of conversations, from documents to training files."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from data_builders.build import build
from data_builders.validate import validate
from judge_r1.benchmarks.rankjudge.prompt import read_pairwise
from judge_r1.cli import app
from judge_r1.core.conversations import ConversationPair, Document, Verification, pair_hash
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ChatMessage
from judge_r1.core.verdicts import LocatedVerdict
from judge_r1.files.jsonl import read_jsonl, write_jsonl


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("conversations") / "data"
    build("mini-conversations", out, variants=2, limit=20)
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
    build("mini-conversations", tmp_path, variants=2, limit=20)
    for name in ("documents.jsonl", "conversations.jsonl", "verification.jsonl", "build.json"):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_validate(folder: Path, tmp_path: Path) -> None:
    assert validate(folder).good
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    pair = next(iter(read_jsonl(folder / "conversations.jsonl", ConversationPair)))
    lines = (tmp_path / "documents.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "documents.jsonl").write_text("".join(line for line in lines if pair.document_id not in line))
    assert not validate(tmp_path).good


NONSENSE = ChatMessage(role="assistant", content="The moon is far away.")


def changed_copy(folder: Path, out: Path, *, hashed: bool = False) -> None:
    """A copy whose better sides begin with another answer; its verifications may have new hashes."""
    out.mkdir()
    documents = {one.document_id: one for one in read_jsonl(folder / "documents.jsonl", Document)}
    pairs, hashes = [], {}
    for pair in read_jsonl(folder / "conversations.jsonl", ConversationPair):
        side = "conversation_a" if pair.preferred == "A" else "conversation_b"
        pairs.append(pair.model_copy(update={side: (pair.better[0], NONSENSE, *pair.better[2:])}))
        hashes[pair.pair_id] = pair_hash(pairs[-1], documents[pair.document_id])
    lines = [json.loads(line) for line in (folder / "verification.jsonl").read_text().splitlines()]
    for line in lines:
        if hashed:
            line["pair_hash"] = hashes.get(line["pair_id"])
        with (out / "verification.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
    write_jsonl(out / "conversations.jsonl", pairs)
    for name in ("documents.jsonl", "build.json"):
        (out / name).write_bytes((folder / name).read_bytes())


def test_validate_finds_answers_that_the_build_did_not_verify(tmp_path: Path) -> None:
    """By the hash, and, as somebody may write a new hash, by the rules that verified the pair."""
    build("mini-conversations", tmp_path / "built", variants=2, limit=8)
    whole = validate(tmp_path / "built")
    assert whole.good
    assert whole.records > 3
    assert whole.notes == (
        f"{whole.records} pairs: compared by hash with what the build verified, and verified again by rules",
    )
    by_hash, by_rules = (
        "its texts, labels or document are not those that the build verified",
        "it does not pass the verifier again: adherence",
    )
    changed_copy(tmp_path / "built", tmp_path / "changed")
    report = validate(tmp_path / "changed")
    assert report.valid == 0
    assert {reason: count for reason, (count, _) in report.problems.items()} == {
        by_hash: report.records, by_rules: report.records
    }  # fmt: skip
    changed_copy(tmp_path / "built", tmp_path / "hashed", hashed=True)
    assert set(validate(tmp_path / "hashed").problems) == {by_rules}


def test_validate_says_what_it_checked(folder: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["validate", str(folder)])
    printed = " ".join(result.output.split())
    assert "checked: every line is a record, and no id stands twice; its document is there;" in printed
    assert "verified again by rules" in printed
    changed_copy(folder, tmp_path / "old")
    file = tmp_path / "old" / "verification.jsonl"
    file.write_text(file.read_text().replace('"schema": 2', '"schema": 1'))
    with pytest.raises(JudgeError, match=r"verification\.jsonl, line 1: field schema"):
        validate(tmp_path / "old")


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
    result = CliRunner().invoke(app, ["build", "mini-conversations", "limit=8", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "Verifier: where candidates fail first" in result.output
