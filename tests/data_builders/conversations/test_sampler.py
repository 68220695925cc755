"""The conditions of conversations, and the documents that they are about."""

from collections import Counter
from pathlib import Path

import pytest

from data_builders.build import build
from data_builders.conversations import mini
from data_builders.conversations.sampler import WEIGHTS, sample_conditions
from data_builders.generators.conversations import read_documents
from judge_r1.core.conversations import BEHAVIOURS, FAILURES
from judge_r1.core.errors import JudgeError

DOCUMENT = mini.document(0, seed=0)


def test_the_sampler_is_uniform_and_independent_of_other_documents() -> None:
    drawn = [sample_conditions(DOCUMENT, number, 7) for number in range(7000)]
    for counts in (Counter(c.failure.key for c in drawn), Counter(c.behaviour.key for c in drawn)):
        assert len(counts) == 7
        assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 22.5  # χ² with 6 degrees, p = .001
    assert {c.rounds for c in drawn} == {3, 4, 5, 6, 7}
    assert all(1 + c.failure.needs_earlier <= c.flawed_round <= c.rounds for c in drawn)
    assert abs(sum(c.preferred == "A" for c in drawn) - 3500) < 150
    assert len({c.pair_id for c in drawn}) == 7000
    assert len(BEHAVIOURS) == 7


def test_weighted_draws_and_a_sound_last_round() -> None:
    """The weights of the public code; the last round holds no flaw."""
    count = 7000
    drawn = [sample_conditions(DOCUMENT, number, 7, draws="weighted", last_round=False) for number in range(count)]
    assert all(1 + c.failure.needs_earlier <= c.flawed_round < c.rounds for c in drawn)
    seen = Counter(key for c in drawn for key in (c.failure.key, c.behaviour.key))
    for keys in ([f.key for f in FAILURES], [b.key for b in BEHAVIOURS]):
        assert sum(WEIGHTS[key] for key in keys) == pytest.approx(1)
        assert sum((seen[key] - count * WEIGHTS[key]) ** 2 / (count * WEIGHTS[key]) for key in keys) < 22.5
    assert sum(c.rounds == 5 for c in drawn) / count == pytest.approx(0.3, abs=0.03)


def test_documents(tmp_path: Path) -> None:
    table = tmp_path / "documents.jsonl"
    table.write_text('{"id": 1, "context": "A text."}\n{"id": 1, "context": "B text.", "domain": "fin"}\n')
    assert [document.domain for document in read_documents(table, None)] == ["general", "fin"]
    table.write_text('{"id": 1, "context": "A text."}\n{"id": 1, "context": "B text."}\n')
    with pytest.raises(JudgeError, match="two documents have the same id and domain"):
        list(read_documents(table, None))
    table.write_text('{"id": 1}\n')
    with pytest.raises(JudgeError, match="line 1: column 'context' is missing"):
        list(read_documents(table, None))


def test_conversations_about_documents_need_a_teacher(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="generator 'conversations' needs a teacher: give teacher="):
        build("conversations", tmp_path)


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
