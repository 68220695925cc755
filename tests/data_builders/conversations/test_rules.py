"""Conversations by rules: what is written, and what the verifier finds in it."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from data_builders.conversations.documents import read_documents
from data_builders.conversations.rules.material import changed_value, mentions, plain_facts, topic
from data_builders.conversations.rules.phrases import OUTSIDE
from data_builders.conversations.rules.verifier import verify
from data_builders.conversations.rules.writer import CannotWrite, write
from data_builders.conversations.sampler import WEIGHTS, sample_conditions
from data_builders.generators.conversations import pair_of
from judge_r1.cli import app
from judge_r1.core.conversation_types import BEHAVIOURS, FAILURES
from judge_r1.core.conversations import ConversationPair, Document
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ChatMessage
from judge_r1.core.jsonl import read_jsonl

DOCUMENTS = list(read_documents(None, 60))


def made(document: Document, number: int, seed: int = 0) -> ConversationPair | None:
    conditions = sample_conditions(document, number, seed)
    try:
        better, worse = (write(document, conditions, flawed=flawed) for flawed in (False, True))
    except CannotWrite:
        return None
    return pair_of(document, conditions, better, worse, "rules")


@given(st.sampled_from(DOCUMENTS), st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_pairs(document: Document, number: int) -> None:
    pair = made(document, number)
    if pair is None:
        return
    assert made(document, number) == pair
    assert len(pair.better) == len(pair.worse) == 2 * pair.rounds
    assert len(pair.plan_better) == len(pair.plan_worse) == pair.rounds
    assert pair.better != pair.worse
    assert "{" not in "".join(message.content for message in (*pair.better, *pair.worse))


def test_most_candidates_pass_and_every_failure_is_made() -> None:
    found: Counter[str] = Counter()
    failed = 0
    for document in DOCUMENTS:
        for number in range(3):
            if (pair := made(document, number)) is not None:
                verification = verify(pair, document)
                failed += verification.failed is not None
                found[pair.failure] += verification.failed is None
    assert set(found) == {failure.key for failure in FAILURES}
    assert failed < 0.1 * found.total()


@pytest.fixture(scope="module")
def kept() -> list[tuple[ConversationPair, Document]]:
    pairs = [(made(document, number), document) for document in DOCUMENTS for number in range(3)]
    return [(pair, doc) for pair, doc in pairs if pair is not None and verify(pair, doc).failed is None]


def test_the_verifier_rejects_other_labels(kept: list[tuple[ConversationPair, Document]]) -> None:
    for pair, document in kept[:40]:
        other = "evasion" if pair.failure != "evasion" else "disorganized"
        for change in ({"failure": other}, {"preferred": "B" if pair.preferred == "A" else "A"}):
            assert verify(pair.model_copy(update=change), document).failed is not None
        if pair.rounds > pair.flawed_round:
            assert (
                verify(pair.model_copy(update={"flawed_round": pair.flawed_round + 1}), document).failed == "adherence"
            )


def test_the_verifier_rejects_an_unsupported_sentence(kept: list[tuple[ConversationPair, Document]]) -> None:
    pair, document = next(pair for pair in kept if pair[0].flawed_round != 1)
    first, second, *rest = pair.better
    talk = (first, ChatMessage(role="assistant", content=second.content + " The moon is far away."), *rest)
    side = "conversation_a" if pair.preferred == "A" else "conversation_b"
    found = verify(pair.model_copy(update={side: talk}), document)
    assert found.failed == "grounding"
    assert found.grounded_better is not None
    assert found.grounded_better < 1


def test_the_sampler_is_uniform_and_independent_of_other_documents() -> None:
    document = DOCUMENTS[0]
    drawn = [sample_conditions(document, number, 7) for number in range(7000)]
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
    document, count = DOCUMENTS[0], 7000
    drawn = [sample_conditions(document, number, 7, draws="weighted", last_round=False) for number in range(count)]
    assert all(1 + c.failure.needs_earlier <= c.flawed_round < c.rounds for c in drawn)
    seen = Counter(key for c in drawn for key in (c.failure.key, c.behaviour.key))
    for keys in ([f.key for f in FAILURES], [b.key for b in BEHAVIOURS]):
        assert sum(WEIGHTS[key] for key in keys) == pytest.approx(1)
        assert sum((seen[key] - count * WEIGHTS[key]) ** 2 / (count * WEIGHTS[key]) for key in keys) < 22.5
    assert sum(c.rounds == 5 for c in drawn) / count == pytest.approx(0.3, abs=0.03)


def test_options_of_a_build(tmp_path: Path) -> None:
    def run(*words: str) -> str:
        command = ["build", "conversations", "--limit", "8", "--out", str(tmp_path), *words]
        result = CliRunner().invoke(app, command)
        return result.output + str(result.exception or "")

    run("--set", "last_round=false", "--variants", "3")
    pairs = list(read_jsonl(tmp_path / "conversations.jsonl", ConversationPair))
    assert pairs
    assert all(pair.flawed_round < pair.rounds for pair in pairs)
    assert "single_call is about the calls of a teacher" in run("--set", "single_call=true", "--overwrite")
    assert "draws" in run("--set", "draws=some", "--overwrite")


def phrases_of(kept: list[tuple[ConversationPair, Document]]) -> list[list[str]]:
    """The user's messages of each conversation."""
    return [[m.content for m in talk if m.role == "user"] for pair, _ in kept for talk in (pair.better, pair.worse)]


def test_no_situation_is_repeated(kept: list[tuple[ConversationPair, Document]]) -> None:
    """No question from outside and no question about an earlier one comes twice, and none refers to what is not yet
    there."""
    outside = [name for name, _ in OUTSIDE.values()]
    again = re.compile(r"^(?:Back to (.*): what|Once more on (.*), please|Before we go on, how was it with (.*)\?)")
    repeated = 0
    for questions in phrases_of(kept):
        about = [name for question in questions for name in outside if f" {name}?" in question]
        assert len(set(about)) == len(about)
        topics = [next(filter(None, found.groups())) for question in questions if (found := again.match(question))]
        assert len(set(topics)) == len(topics)
        repeated += len(topics) > 1
        assert not re.match(r"And |Going deeper|A follow-up|Next to|Let me jump|Can you back", questions[0])
    assert repeated  # the test would notice


def test_a_topic_belongs_to_one_fact() -> None:
    """Of two sentences about the patient, neither is what is stated about the patient."""
    text = (
        "The patient was admitted with fever and a cough. The patient was given fluids on the first day. "
        "Blood pressure was 120/80 mm Hg in both arms. A data statement, though without a link, is part of the file."
    )
    document = Document(document_id="d", domain="medical", context=text, source="test")
    assert [topic(fact, text) for fact in plain_facts(document)] == ["blood pressure"]


def test_directives_cover_words_of_one_stem() -> None:
    assert mentions("A hearing was adjourned.", "adjournment")
    assert mentions("The removal took an hour.", "removal")
    assert mentions("Its effects were small.", "effect")
    assert not mentions("The protocol was kept.", "process")
    assert not mentions("A band was seen.", "bandage")


@given(st.sampled_from(DOCUMENTS), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_changed_values_are_new(document: Document, seed: int) -> None:
    conditions = replace(sample_conditions(document, 0, 0), seed=seed)
    for fact in plain_facts(document)[:5]:
        changed = changed_value(fact, document.context, conditions.random("value"))
        assert topic(fact, document.context)
        if changed is not None:
            assert changed != fact.text
            assert changed not in document.context


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
