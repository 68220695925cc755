"""People tick checklists of long texts on the annotation page, and `fit-weights` reads the answers (HelloBench, F)."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_annotation_pages import Page, answer, get
from typer.testing import CliRunner

from data_builders.audit.annotation.site import AnnotationSite, open_site
from data_builders.audit.checklists import TEXTS_FILE, ChecklistAnswer, ChecklistTask
from judge_r1.benchmarks.hellobench.annotations import read_annotations
from judge_r1.cli import app

QUESTIONS = ["Is it {long}?", "Is it clear?"]


def row(number: int, system: str = "s") -> dict[str, object]:
    return {
        "id": f"chat_{number:03}", "system": system, "category": "idea generation", "instruction": "Write a letter.",
        "response": f"Dear {number} <friend>.", "checklists": QUESTIONS,
    }  # fmt: skip


@pytest.fixture
def site(tmp_path: Path) -> Iterator[AnnotationSite[ChecklistAnswer]]:
    (tmp_path / TEXTS_FILE).write_text("".join(json.dumps(row(n)) + "\n" for n in range(4)))
    site = open_site(ChecklistTask(tmp_path), tmp_path / "answers.jsonl")
    site.token = "token"
    with site.log:
        yield site


def test_a_page_asks_the_questions_of_its_text(site: AnnotationSite[ChecklistAnswer]) -> None:
    response = get(site, "pair?annotator=Ana&at=1")
    page, html = Page(response), response.body.decode()
    assert "Dear 0 <friend>." in page.ids["reference"]
    assert "Is it {long}?" in page.text
    assert html.count('name="item_1"') == 5
    assert html.count('name="overall"') == 11
    missing = answer(site, item_0="1", overall="7")
    assert (missing.status, site.log.answers) == (400, ())


def test_answers_are_rows_of_fit_weights(site: AnnotationSite[ChecklistAnswer], tmp_path: Path) -> None:
    levels = [("0", "0.25"), ("0.5", "1"), ("1", "0.75"), ("0.25", "0")]
    answer(site, item_0="1", item_1="1", overall="1")
    for at, (one, other) in enumerate(levels, 1):
        whole = str(round(6 * float(one) + 4 * float(other)))
        assert answer(site, at=at, item_0=one, item_1=other, overall=whole).status == 303
    assert 'value="0.25" data-key="" required checked' in get(site, "pair?annotator=Ana&at=1").body.decode()
    skipped = Counter[str]()
    found = list(read_annotations(tmp_path / "answers.jsonl", skipped))
    assert [one.scores for one in found] == [tuple(map(float, pair)) for pair in levels], "the last answer counts"
    assert (found[0].id, found[0].system, found[0].annotator) == ("chat_000", "s", "Ana")
    assert skipped == {"changed later": 1}
    out = tmp_path / "weights.json"
    result = CliRunner().invoke(
        app, ["fit-weights", str(tmp_path / "answers.jsonl"), "--resamples", "0", "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    weights = json.loads(out.read_text())["categories"]["idea generation"]["weights"]
    assert weights == pytest.approx([60, 40], abs=6)


@pytest.mark.real_data
def test_texts_of_a_checkout_are_drawn(real_data: Path, tmp_path: Path) -> None:
    command = ["audit", "sample", str(real_data / "hellobench"), "--checklists", "--pairs", "5", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert len(ChecklistTask(tmp_path).pair_ids) == 5
    assert "write to another folder" in str(CliRunner().invoke(app, command).output)
