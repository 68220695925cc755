"""The shortcut audit of conversation pairs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from data_builders.audit.conversations import audit_conversations
from data_builders.audit.shortcut_probe import ProbeError
from data_builders.build import build
from judge_r1.benchmarks.rankjudge import read_pairs
from judge_r1.cli import app
from judge_r1.core.conversations import ConversationPair
from judge_r1.core.items import ChatMessage


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("audit") / "data"
    build("mini-conversations", out, variants=1, limit=16)
    return out


def test_a_leak_is_flagged(folder: Path) -> None:
    pairs, texts = read_pairs(folder)

    def longer(pair: ConversationPair) -> ConversationPair:
        side = "conversation_b" if pair.preferred == "A" else "conversation_a"
        *talk, last = getattr(pair, side)
        more = ChatMessage(role="assistant", content=last.content + " and so on" * 200)
        return pair.model_copy(update={side: (*talk, more)})

    audit = audit_conversations([longer(pair) for pair in pairs], texts)
    assert "length" in audit.leaks
    assert "fewer words" in audit.leaks
    assert "form: odd length" in audit.leaks
    assert "form: odd length, all three parts" not in audit.leaks  # it finds the turn, and names the wrong type
    (chance,) = [result for result in audit.form if result.check == "chance"]
    assert chance.joint_ci95[0] <= chance.guess == pytest.approx(1 / (2 * 2 * 7))


def test_a_leak_of_all_three_parts_is_flagged(folder: Path) -> None:
    """Refusals that occur in flawed turns alone: the side is found in one type only, all three parts in all of it."""
    pairs, texts = read_pairs(folder)
    wrong = [pair for pair in pairs if pair.failure == "unnecessary_refusal"]
    assert wrong

    def silent(pair: ConversationPair) -> ConversationPair:
        side = "conversation_b" if pair.preferred == "A" else "conversation_a"
        talk, place = list(getattr(pair, side)), 2 * pair.flawed_round - 1
        talk[place] = ChatMessage(role="assistant", content="The document does not say.")
        return pair.model_copy(update={side: tuple(talk), "failure": "unnecessary_refusal"})

    audit = audit_conversations([silent(pair) for pair in pairs], texts)
    assert "form: refusal words, all three parts" in audit.leaks


def test_the_command(folder: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["audit", "shortcuts", str(folder), "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    report = json.loads((tmp_path / "audit.json").read_text())
    assert {found["probe"] for found in report["readers"]} >= {"length", "words", "common words"}
    assert {found["check"] for found in report["form"]} >= {"chance", "form: refusal words"}
    assert f"{len(report['flagged'])} flagged" in " ".join(result.output.split())


def test_too_few_documents(folder: Path) -> None:
    pairs, texts = read_pairs(folder)
    with pytest.raises(ProbeError, match="needs pairs of at least 10 cases"):
        audit_conversations(pairs[:5], texts)
