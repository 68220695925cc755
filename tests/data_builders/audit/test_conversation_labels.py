"""People check the labels of conversation pairs: the sample, the pages, the report, and what `rate` leaves out."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from rating_folder import write_rating
from test_annotation_pages import Page, answer, get
from typer.testing import CliRunner

from data_builders.audit.annotation.site import AnnotationSite, open_site
from data_builders.audit.conversation_labels import LabelTask, report_labels, write_sample
from data_builders.build import build
from judge_r1.cli import app
from judge_r1.core.conversations import failure_type
from judge_r1.core.errors import JudgeError
from judge_r1.files.transcripts import read_conversations
from judge_r1.labels.audit_answers import AnswerFileError, PairLabel


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("labels") / "data"
    build("mini-conversations", out, variants=2, limit=10)
    return out


@pytest.fixture
def sample(folder: Path, tmp_path: Path) -> Path:
    assert write_sample(folder, tmp_path / "sample", 6, seed=0) == 6
    return tmp_path / "sample"


@pytest.fixture
def site(sample: Path) -> Iterator[AnnotationSite[PairLabel]]:
    site = open_site(LabelTask(*read_conversations(sample)), sample / "answers.jsonl")
    site.token = "token"
    with site.log:
        yield site


def test_a_sample_depends_on_the_seed_alone(folder: Path, sample: Path, tmp_path: Path) -> None:
    drawn = {pair.pair_id for pair in read_conversations(sample)[0]}
    write_sample(folder, tmp_path / "again", 6, seed=0)
    write_sample(folder, tmp_path / "other", 6, seed=1)
    assert {pair.pair_id for pair in read_conversations(tmp_path / "again")[0]} == drawn
    assert {pair.pair_id for pair in read_conversations(tmp_path / "other")[0]} != drawn
    assert write_sample(folder, tmp_path / "whole", 1000, seed=0) == 20
    with pytest.raises(JudgeError, match="write to another folder"):
        write_sample(folder, sample, 6, seed=0)


def test_a_page_shows_the_labels_and_marks_the_flawed_turn(site: AnnotationSite[PairLabel]) -> None:
    for at, pair in enumerate(site.task.pairs.values(), 1):
        response = get(site, f"pair?annotator=Ana&at={at}")
        page, html = Page(response), response.body.decode()
        failure = failure_type(pair.failure)
        assert failure is not None
        assert f"Round {pair.flawed_round}, {failure.letter} {failure.key}" in page.text
        assert site.task.documents[pair.document_id].context in page.ids["context"]
        assert html.count("<mark>") == 1
        assert f"<mark>{pair.worse[2 * pair.flawed_round - 1].content}</mark>" in html
        assert all(message.content in page.ids["reference"] for message in pair.better)


def test_answers_are_saved_reported_and_refused(site: AnnotationSite[PairLabel], sample: Path, tmp_path: Path) -> None:
    first, _, third = site.task.pair_ids[:3]
    saved = answer(site, label="noise", note="two\r\nflaws")
    assert (saved.status, saved.headers["Location"]) == (303, "/token/pair?annotator=Ana&round=1")
    assert "Pair 2 of 6" in Page(get(site, "pair?annotator=Ana")).text
    for name, at, label in (
        ("Ana", 2, "clean"), ("Ben", 2, "clean"), ("Ana", 3, "noise"), ("Ana", 3, "clean"), ("Ben", 3, "ambiguous")
    ):  # fmt: skip
        answer(site, name, at=at, label=label)
    report = report_labels(sample, [sample / "answers.jsonl"], tmp_path)
    rows = {row["group"]: row for row in report["rows"]}
    assert [rows["all"][key] for key in ("answers", "clean", "ambiguous", "noise")] == [5, 3, 1, 1]
    assert rows["by Ben"]["problematic"] == 0.5
    assert report["agreement"]["n"] == 2
    assert report["agreement"]["share"] == 0.5
    assert set(report["refused"]) == {first, third}
    assert set((tmp_path / "refused.txt").read_text().split()) == {first, third}
    assert json.loads((tmp_path / "labels.json").read_text())["notes"][0]["note"] == "two\nflaws"
    copy = Path(shutil.copy(sample / "answers.jsonl", tmp_path / "copy.jsonl"))
    with pytest.raises(AnswerFileError, match=r"copy\.jsonl has answers of Ana, and so does another file"):
        report_labels(sample, [sample / "answers.jsonl", copy], tmp_path)


@pytest.mark.parametrize("label", ["maybe", []])
def test_a_label_must_be_chosen(site: AnnotationSite[PairLabel], label: object) -> None:
    response = answer(site, label=label)
    assert response.status == 400
    assert "Choose one of the three labels first." in Page(response).text
    assert not site.log.answers


def test_labels_by_difficulty(sample: Path, tmp_path: Path) -> None:
    """Cumulative shares, with equal Elo in one step; a pair without an Elo is left out."""
    pairs = [pair.pair_id for pair in read_conversations(sample)[0]]
    given = {"clean": pairs[:3], "noise": pairs[3:5], "ambiguous": pairs[5:]}
    lines = [
        {"schema": 1, "annotator": "Ana", "pair_id": pair, "label": label, "at": "now"}
        for label, found in given.items()
        for pair in found
    ]
    (sample / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rating, elo = tmp_path / "rating", (1000.0, 1500.0, 1200.0, 1200.0, 1600.0, None)
    write_rating(rating, dict(zip(pairs, elo, strict=True)))
    words = ["audit", "report", str(sample), "--rating", str(rating)]
    output = CliRunner().invoke(app, words).output
    assert "Labels by difficulty" in output
    steps = json.loads((sample / "labels.json").read_text())["by_elo"]
    assert [(step["elo"], step["answers"]) for step in steps] == [(1000, 1), (1200, 3), (1500, 4), (1600, 5)]
    assert [step["noise"] for step in steps] == pytest.approx([0, 1 / 3, 1 / 4, 2 / 5])
    write_rating(rating, {"other": 1500.0})
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "gives none of the labelled pairs an Elo" in result.output + str(result.exception)


def test_the_commands(folder: Path, tmp_path: Path) -> None:
    def run(*words: object) -> str:
        found = CliRunner().invoke(app, [str(word) for word in words])
        return found.output + str(found.exception or "")

    out = tmp_path / "sample"
    assert "3 pairs" in run("audit", "sample", folder, "--pairs", 3, "--out", out)
    assert "from one folder, not from 2" in run("audit", "sample", folder, folder, "--out", tmp_path / "two")
    assert "--per-principle is for pairs" in run("audit", "sample", folder, "--per-principle", 3, "--out", out)
    assert "no answers yet" in run("audit", "report", out)
    pairs = [pair.pair_id for pair in read_conversations(out)[0]]
    labels = ("clean", "noise", "clean")
    lines = [
        {"schema": 1, "annotator": "Ana", "pair_id": pair, "label": label, "at": "now"}
        for pair, label in zip(pairs, labels, strict=True)
    ]
    (out / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "1 of 3 labelled pairs refused" in run("audit", "report", out)
    run("eval", "--benchmark", "rankjudge", "--path", folder, "--out", tmp_path / "eval")
    run("rate", tmp_path / "eval", "--refused", out / "refused.txt", "--out", tmp_path / "rating")
    rated = [json.loads(line) for line in (tmp_path / "rating" / "items.jsonl").read_text().splitlines()]
    assert {row["item"]: row["status"] for row in rated}[pairs[1]] == "refused"
