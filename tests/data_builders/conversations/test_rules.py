"""Conversations by rules: what is written, and what the verifier finds in it."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from data_builders.conversations.documents import read_documents
from data_builders.conversations.rules.material import changed_value, pairs, topics
from data_builders.conversations.rules.phrases import DIRECTIVE, OUTSIDE, REVISIT
from data_builders.conversations.rules.verifier import flawed_rounds, verify
from data_builders.conversations.rules.writer import CannotWrite, write
from data_builders.conversations.sampler import WEIGHTS, sample_conditions
from data_builders.generators.conversations import pair_of
from data_builders.text_units.steps import sentences
from data_builders.text_units.text_match import content_words
from judge_r1.cli import app
from judge_r1.core.conversation_types import BEHAVIOURS, FAILURES
from judge_r1.core.conversations import ConversationPair, Document
from judge_r1.core.errors import JudgeError
from judge_r1.core.items import ChatMessage, Conversation
from judge_r1.core.jsonl import read_jsonl

SCANS = (
    "The scan of the chest showed a mass of 12 mm. The scan of the head was normal after 14 days of rest. "
    "The biopsy of the mass was negative. The white count on admission was 14 per liter. The surgical wound was dry "
    "after 20 days. The stitches in the wound were removed by a nurse. The evening pulse was 88 per minute."
)
"""Two topics with one head, two that are near each other, and others."""
DOCUMENTS = [
    *read_documents(None, 60),
    *(Document(document_id=f"scans {n}", domain="medical", context=SCANS, source="test") for n in range(60)),
]


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
    assert set(found) == {failure.key for failure in FAILURES} - {"disorganized"}
    assert failed < 0.1 * found.total()


def test_a_failure_that_needs_side_remarks_is_left_to_a_teacher() -> None:
    drawn = [sample_conditions(DOCUMENTS[0], number, 0) for number in range(50)]
    conditions = next(one for one in drawn if one.failure.key == "disorganized")
    with pytest.raises(CannotWrite, match="rules cannot write disorganized naturally: give a teacher"):
        write(DOCUMENTS[0], conditions, flawed=False)


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
    pair, document = next(
        (pair, document)
        for pair, document in kept
        if pair.flawed_round != 1 and pair.better[1].content in document.context
    )
    first, second, *rest = pair.better
    said = f"{second.content} Nobody can explain it, although many asked: {first.content.lower().rstrip('?')}."
    talk = (first, ChatMessage(role="assistant", content=said), *rest)
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


def test_sound_turns_show_no_flaw(kept: list[tuple[ConversationPair, Document]]) -> None:
    """Each sentence has a word of its question, and none comes twice unless the user asks again; in any turn."""
    again = tuple(phrase.partition("{")[0] for phrase in REVISIT)
    count = 0
    for talk in (talk for pair, _ in kept for talk in (pair.better, pair.worse)):
        seen = set[str]()
        for user, assistant in zip(talk[::2], talk[1::2], strict=True):
            said = [assistant.content[start:end] for start, end in sentences(assistant.content)]
            assert all(set(content_words(user.content)) & set(content_words(sentence)) for sentence in said)
            assert user.content.startswith(again) or not seen & set(said)
            seen.update(said)
            count += len(said)
    assert count > 1000


def other_answer(talk: Conversation, number: int, text: str) -> Conversation:
    return (*talk[: 2 * number - 1], ChatMessage(role="assistant", content=text), *talk[2 * number :])


def test_the_verifier_finds_drift_and_repetition(kept: list[tuple[ConversationPair, Document]]) -> None:
    """A sentence on something else, and one of an earlier answer, are flaws of a turn that is sound otherwise."""
    pair, document = next((p, d) for p, d in kept if p.failure == "fabricated_answer" and d.context == SCANS)
    talk = tuple(
        ChatMessage(role=role, content=text)
        for question, answer in (
            ("What about the white count on admission?", "The white count on admission was 14 per liter."),
            ("What about the biopsy of the mass?", "The biopsy of the mass was negative."),
        )
        for role, text in (("user", question), ("assistant", answer))
    )
    assert flawed_rounds(talk, SCANS) == {}
    drifted = other_answer(talk, 2, "The biopsy of the mass was negative. The evening pulse was 88 per minute.")
    assert flawed_rounds(drifted, SCANS) == {2: "drift"}
    repeated = (*talk, *talk[2:])
    assert flawed_rounds(repeated, SCANS) == {3: "repetition"}
    side = "conversation_a" if pair.preferred == "A" else "conversation_b"
    sound = next(
        n for n in range(1, pair.rounds + 1) if n != pair.flawed_round and "?" not in pair.better[2 * n - 1].content
    )
    more = other_answer(
        pair.better, sound, pair.better[2 * sound - 1].content + " The evening pulse was 88 per minute."
    )
    assert verify(pair.model_copy(update={side: more}), document).failed == "adherence"


def test_an_answer_has_all_sentences_on_its_topic() -> None:
    """A subject that another sentence mentions, too, is asked about only if all these sentences can stand alone."""
    text = (
        "Blood pressure was 120/80 mm Hg in both arms. A low blood pressure was measured after 20 minutes of rest. "
        "The left arm was swollen after the fall. This fracture of the left arm was new. "
        "The following day the dispute had continued. A data statement, though without a link, is part of the file."
    )
    found = {topic.name: topic.facts for topic in topics(text)}
    first, second = text.partition(" A low")[0], "A low blood pressure was measured after 20 minutes of rest."
    assert found == {"blood pressure": (first, second), "a low blood pressure": (second,)}


def test_topics_that_a_short_question_confuses() -> None:
    found = topics(SCANS)
    assert {frozenset((one.name, other.name)) for one, other in pairs(found, same_head=True)} == {
        frozenset(("the scan of the chest", "the scan of the head"))
    }
    near = {frozenset((one.name, other.name)) for one, other in pairs(found, same_head=False)}
    assert frozenset(("the surgical wound", "the stitches in the wound")) in near
    assert frozenset(("the scan of the head", "the evening pulse")) not in near


@pytest.mark.parametrize(("said", "flaws"), [("color", {}), ("pain", {1: "instruction_forgetting"})])
def test_a_directive_is_about_a_topic_and_not_about_a_word(said: str, flaws: dict[int, str]) -> None:
    """To leave out the intensity of the pain says nothing about the intensity of a color."""
    facts = {
        "color": "The intensity of the color was measured with a meter.",
        "pain": "The intensity of the pain was rated as 7 by the patient.",
        "skin": "The reaction of the skin was normal in both arms.",
    }
    question = "What is the reaction of the skin? How was its intensity? "
    question += DIRECTIVE[0].format(topic="the intensity of the pain")
    answer = f"{facts['skin']} {facts[said]}"
    talk = (ChatMessage(role="user", content=question), ChatMessage(role="assistant", content=answer))
    assert flawed_rounds(talk, " ".join(facts.values())) == flaws


@given(st.sampled_from(DOCUMENTS), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_changed_values_are_new(document: Document, seed: int) -> None:
    conditions = replace(sample_conditions(document, 0, 0), seed=seed)
    for topic in topics(document.context)[:5]:
        changed = changed_value(topic.facts[0], document.context, conditions.random("value"))
        if changed is not None:
            assert changed != topic.facts[0]
            assert changed not in document.context


def test_a_changed_day_is_a_day_of_its_month() -> None:
    text = "The claim was allowed on 28 March."
    changed = {changed_value(text, text, Random(seed)) for seed in range(50)}
    assert changed == {f"The claim was allowed on {day} March." for day in (24, 25, 26)}


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
