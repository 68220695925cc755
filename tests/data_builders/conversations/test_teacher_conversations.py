"""Conversations by a teacher: a scripted model behind a real server, with wrong forms and failed checks."""

import asyncio
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fake_llm_server import FakeLLMServer, answer_batch
from source_factories import FunctionTeacher
from typer.testing import CliRunner

from data_builders.conversations import mini
from data_builders.conversations.sampler import sample_conditions
from data_builders.conversations.teacher import Asker, NoAnswer
from data_builders.conversations.teacher_checks import ground
from data_builders.generators.base import BuildPlan
from data_builders.generators.conversations import read_documents
from data_builders.generators.conversations_by_teacher import ConversationsByTeacher
from data_builders.teachers import Attempts
from data_builders.validate import validate
from judge_r1.cli import app
from judge_r1.core.conversations import Claim, ConversationPair, Verification
from judge_r1.core.record_base import content_hash
from judge_r1.files.jsonl import read_jsonl, write_jsonl


def chance(user: str, salt: str) -> float:
    return int(content_hash(salt, user), 16) / 16**16


def scripted(system: str, user: str, sample: int) -> str:
    """Answers every prompt of the two phases. Some first attempts have a wrong form; some checks fail."""
    if '"good_ok"' in user:
        return json.dumps({"good_ok": chance(user, "c") > 0.2, "worse_ok": True, "issue": "no material"})
    if '"good_followed"' in user:
        followed = chance(user, "a") > 0.3
        return json.dumps({"good_followed": True, "worse_followed": followed, "flaw_round_correct": True, "issue": "x"})
    if '"claims"' in user:
        rounds = len(re.findall(r"Round \d+, ASSISTANT", user))
        claim = {"claim": "c", "grounded": chance(user, "g") > 0.2}
        return json.dumps({"rounds": [{"round": number, "claims": [claim]} for number in range(1, rounds + 1)]})
    answer: dict[str, object] = {}
    if entries := re.findall(r"exactly (\d+) entries", user):
        if sample == 0 and chance(user, "p") < 0.3:
            return "I cannot decide on a plan."
        answer["rounds"] = [f"round {number}: asks about a part" for number in range(1, int(entries[0]) + 1)]
    if messages := re.findall(r"(\d+) messages", user):
        wanted = int(messages[0]) - 2 * (sample == 0 and chance(user, "w") < 0.4)
        named = content_hash(user)
        roles = ("user", "assistant")
        answer["conversation"] = [{"role": roles[n % 2], "content": f"Message {n} of {named}."} for n in range(wanted)]
    return "```json\n" + json.dumps(answer) + "\n```"


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": n, "context": f"Document {n} says {n}."}) + "\n" for n in range(12)))
    return path


def built(server: FakeLLMServer, documents: Path, out: Path, *more: str) -> str:
    arguments = ["build", "conversations", f"path={documents}", "variants=3", f"teacher={server.chat}"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(out), *more])
    assert result.exit_code == 0, result.output
    return result.output


def test_cascade_retries_and_resume(documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    with FakeLLMServer(scripted) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        assert "Verifier: where candidates fail first" in built(server, documents, out)
        calls = server.served.total()
        files = {
            name: (out / name).read_bytes() for name in ("conversations.jsonl", "verification.jsonl", "build.json")
        }
        built(server, documents, out)
        assert server.served.total() == calls  # all answers came from the cache
        assert files == {name: (out / name).read_bytes() for name in files}
        assert not server.duplicates
    report = json.loads(files["build.json"])
    verified = list(read_jsonl(out / "verification.jsonl", Verification))
    found = Counter(verification.failed for verification in verified)
    assert len(verified) == 36
    for verification in verified:
        listed = [verification.claims_better, verification.claims_worse]
        if verification.failed in ("coherence", "adherence"):
            assert listed == [None, None]
        else:  # one claim in each turn but the flawed one
            assert [sum(map(len, claims or ())) - len(claims or ()) for claims in listed] == [0, -1]
    assert all(found[layer] for layer in ("coherence", "adherence", "grounding", None))
    assert report["cascade"]["all"]["kept"] == found[None]
    assert report["teacher"]["rejected"] == {
        "no JSON object": pytest.approx(10, abs=20),
        "the conversation has another number of messages": pytest.approx(20, abs=20),
    }
    assert report["conversation_verifier"]["is_the_writer"] is True
    pairs = list(read_jsonl(out / "conversations.jsonl", ConversationPair))
    assert len(pairs) == found[None]
    assert {pair.generator for pair in pairs} == {report["teacher"]["name"]}
    report_of_validation = validate(out)
    assert report_of_validation.good
    assert report_of_validation.notes == (
        f"{len(pairs)} pairs: compared by hash with what the build verified, and not verified again",
    )
    first = pairs[0].model_copy(update={"conversation_a": pairs[0].conversation_b})
    write_jsonl(out / "conversations.jsonl", [first, *pairs[1:]])
    assert validate(out).problems == {
        "its texts, labels or document are not those that the build verified": (1, first.pair_id)
    }


def test_one_call_for_plan_and_text(documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half the calls to the writer, the same layers of the verifier, and the flawed round is still the drawn one."""
    out, asked = tmp_path / "out", Counter[str]()

    def counted(system: str, user: str, sample: int) -> str:
        asked["both" if "entries and" in user else "plan" if " entries" in user else "other"] += 1
        return scripted(system, user, sample)

    with FakeLLMServer(counted) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        built(server, documents, out, "options.single_call=true")
    report = json.loads((out / "build.json").read_text())
    assert report["options"] == {"single_call": True}
    verified = list(read_jsonl(out / "verification.jsonl", Verification))
    found = Counter(verification.failed for verification in verified)
    assert all(found[layer] for layer in ("coherence", "adherence", "grounding", None))
    assert asked["plan"] == 0
    assert asked["both"] == 2 * 36 + sum(report["teacher"]["rejected"].values())
    pairs = {pair.pair_id: pair for pair in read_jsonl(out / "conversations.jsonl", ConversationPair)}
    documents_by_id = {document.document_id: document for document in read_documents(documents, None)}
    for pair in pairs.values():
        drawn = [sample_conditions(documents_by_id[pair.document_id], number, 0) for number in range(3)]
        assert (pair.pair_id, pair.flawed_round) in {(found.pair_id, found.flawed_round) for found in drawn}
    assert validate(out).good


@pytest.mark.parametrize("vendor", ["chat", "anthropic"])
def test_a_batch_build_takes_at_most_eight_rounds_and_gives_the_same_records(
    vendor: str, documents: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeLLMServer(scripted) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        command = ["build", "conversations", f"path={documents}", f"teacher={getattr(server, vendor)}"]
        CliRunner().invoke(app, [*command, "--out", str(tmp_path / "live")], catch_exceptions=False)
        assert server.peak > 2  # pairs of a document at the same time, and both conversations of a pair
        live = server.served.total()
        exports: list[str] = []
        while not (tmp_path / "batch" / "conversations.jsonl").exists():
            export, results = tmp_path / f"{len(exports)}.jsonl", tmp_path / f"results{len(exports) - 1}.jsonl"
            more = [f"batch_import={results}"] if exports else []
            done = CliRunner().invoke(
                app, [*command, "--out", str(tmp_path / "batch"), f"batch_export={export}", *more]
            )
            assert done.exit_code == 0, done.output
            if export.exists():
                exports += [export.read_text()]
                answer_batch(scripted, export, tmp_path / f"results{len(exports) - 1}.jsonl")
    assert 4 < len(exports) <= 8
    assert sum(export.count("\n") for export in exports) == live
    for name in ("documents.jsonl", "conversations.jsonl", "verification.jsonl"):
        assert (tmp_path / "live" / name).read_bytes() == (tmp_path / "batch" / name).read_bytes()


def test_the_flawed_round_does_not_count_as_ungrounded() -> None:
    """Even if the model lists its claims against the request."""
    rounds = [{"round": number, "claims": [{"claim": "c", "grounded": number == 1}]} for number in (1, 2)]
    teacher = FunctionTeacher(lambda request: json.dumps({"rounds": rounds}))
    document = mini.document(0, seed=0)
    talk = tuple(mini.write(document, mini.conditions(document, 0, seed=0), flawed=True).messages)
    asker = Asker(teacher, Attempts())
    without, all_rounds = (asyncio.run(ground(asker, document, talk, skipped)) for skipped in (2, None))
    assert (without.share, without.empty_turns) == (1.0, 0)
    assert without.claims == ((Claim(claim="c", grounded=True),), ())
    assert (all_rounds.share, all_rounds.empty_turns) == (0.5, 0)
    assert all_rounds.claims[1] == (Claim(claim="c", grounded=False),)


@pytest.mark.parametrize("number", [0, 3, -1, True, "1"])
def test_claims_of_a_round_that_is_not_there_are_a_wrong_form(number: object) -> None:
    """An answer about other rounds is requested again; its claims are neither counted nor dropped."""
    right = [{"round": n, "claims": [{"claim": "c", "grounded": True}]} for n in (1, 2)]
    wrong = [*right, {"round": number, "claims": [{"claim": "c", "grounded": False}]}]
    answers = iter([wrong, right])
    document, calls = mini.document(0, seed=0), Attempts()
    talk = tuple(mini.write(document, mini.conditions(document, 0, seed=0), flawed=True).messages)
    asker = Asker(FunctionTeacher(lambda request: json.dumps({"rounds": next(answers)})), calls)
    assert asyncio.run(ground(asker, document, talk, None)).share == 1.0
    assert calls.answers == 2
    [reason] = calls.rejected
    assert reason.startswith("grounding: a round ")


@pytest.mark.parametrize(
    "claim", ["c", {"grounded": True}, {"claim": "c", "grounded": 1}, {"claim": 1, "grounded": True}]
)
def test_a_claim_without_a_text_or_a_truth_value_is_a_wrong_form(claim: object) -> None:
    asker = Asker(
        FunctionTeacher(lambda request: json.dumps({"rounds": [{"round": 1, "claims": [claim]}]})), Attempts()
    )
    document = mini.document(0, seed=0)
    talk = tuple(mini.write(document, mini.conditions(document, 0, seed=0), flawed=True).messages)
    with pytest.raises(NoAnswer, match="a claim needs a text"):
        asyncio.run(ground(asker, document, talk, None))


@pytest.mark.parametrize(
    ("listed", "failed", "issue"),
    [
        ({1: True, 3: True, 4: True}, None, ""),  # round 2 asks back
        ({3: True}, "grounding", "an answer states something without a listed claim: 4 answers"),
        ({}, "grounding", "a conversation without a claim"),
        ({1: True, 3: True, 4: False}, "grounding", "a claim is not grounded"),
    ],
)
def test_every_answer_that_states_something_needs_a_claim(
    listed: dict[int, bool], failed: str | None, issue: str
) -> None:
    """A verifier that lists next to nothing verifies nothing. Answers that ask back or say that the document is silent
    need no claim."""
    answers = ["Platelets were 70.", "Do you mean A or B?", "The dose was 5 mg.", "He left on day 9."]
    talk = [
        {"role": role, "content": text} for answer in answers for role, text in (("user", "?"), ("assistant", answer))
    ]
    rounds = [{"round": number, "claims": [{"claim": "c", "grounded": value}]} for number, value in listed.items()]

    def reply(request: Any) -> str:
        checks = ("good_ok", "worse_ok", "good_followed", "worse_followed", "flaw_round_correct")
        plan = {"rounds": ["a plan"] * 4}
        if '"claims"' in request.user:
            return json.dumps({"rounds": rounds})
        return json.dumps(
            {**dict.fromkeys(checks, True), **({"conversation": talk} if "messages" in request.user else plan)}
        )

    generator = ConversationsByTeacher(BuildPlan(source="conversations"), [FunctionTeacher(reply)])
    document = mini.document(0, seed=0)
    conditions = next(
        found
        for n in range(200)
        if (found := sample_conditions(document, n, 0)).rounds == 4 and found.flawed_round == 2
    )
    generator.conditions = lambda item: [conditions]  # type: ignore[method-assign]
    [found] = asyncio.run(generator.generate(document)).verified
    assert (found.failed, found.issue) == (failed, issue)
