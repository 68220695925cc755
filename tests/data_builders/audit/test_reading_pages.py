"""The pages of a reading sheet: what they show, what they save, and two readers in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from audit_server import served
from browser import CONTRAST, chromium
from factories import mini_pairs
from test_annotation_pages import Page, answer, get

from data_builders.audit.annotation.site import AnnotationSite, open_site
from data_builders.audit.reading.results import ReadingTask, load_readings
from data_builders.audit.reading.sheet import write_sheet
from data_builders.build import write_pairs
from judge_r1.files.pair_set import load_pairs
from judge_r1.labels.audit_answers import Reading


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    write_pairs(mini_pairs(60), tmp_path / "pairs")
    write_sheet([tmp_path / "pairs"], tmp_path / "sheet", per_principle=1, seed=0)
    return tmp_path / "sheet"


@pytest.fixture
def site(sheet: Path) -> Iterator[AnnotationSite[Reading]]:
    site = open_site(ReadingTask(load_pairs(sheet)), sheet / "answers.jsonl")
    site.token = "token"
    with site.log:
        yield site


def test_a_page_shows_the_label_the_difference_and_the_evidence(site: AnnotationSite[Reading]) -> None:
    for at, pair in enumerate(site.task.data.pairs, 1):
        response = get(site, f"pair?annotator=Ana&at={at}")
        page, html = Page(response), response.body.decode()
        flaw = pair.origin.flaws[0]
        assert f"P{pair.violated[0]} " in page.text
        assert pair.reference in page.ids["reference"]
        assert pair.flawed in page.ids["flawed"]
        assert site.task.data.case_of(pair).context in page.ids["context"]
        assert f"<mark>{pair.flawed[flaw.span.start : flaw.span.end]}</mark>" in html
        for span in flaw.context_spans:
            assert f"<mark>{site.task.data.case_of(pair).context[span.start : span.end]}</mark>" in html


def test_answers_are_saved_and_can_be_changed(site: AnnotationSite[Reading]) -> None:
    pair_id = site.task.data.pairs[0].pair_id
    saved = answer(site, real="yes", natural="no", note="odd\r\nword")
    assert (saved.status, saved.headers["Location"]) == (303, "/token/pair?annotator=Ana&round=1")
    (reading,) = site.log.answers
    assert (reading.annotator, reading.pair_id, reading.real, reading.natural) == ("Ana", pair_id, True, False)
    assert reading.note == "odd\nword"
    assert "Pair 2 of 6" in Page(get(site, "pair?annotator=Ana")).text
    again = Page(get(site, "pair?annotator=Ana&at=1"))
    checked = {(f["name"], f["value"]) for f in again.fields if "checked" in f and f.get("name")}
    assert checked == {("real", "yes"), ("natural", "no")}
    for at in range(1, 7):
        answer(site, at=at, real="yes", natural="yes")
    done = Page(get(site, "pair?annotator=Ana")).text
    assert "The set is complete" in done
    assert "You have finished: all 6 pairs" in done
    assert "6 of 6" in Page(get(site, "")).text
    _, readings = load_readings(site.log.path.parent, [site.log.path])
    assert [r.natural for r in readings["Ana"].values()] == [True] * 6


@pytest.mark.parametrize("fields", [{"real": "maybe"}, {"natural": []}])
def test_both_questions_need_an_answer(site: AnnotationSite[Reading], fields: dict[str, object]) -> None:
    response = answer(site, **{"real": "yes", "natural": "yes", **fields})
    assert response.status == 400
    assert "Answer both questions first." in Page(response).text
    assert not site.log.answers


def test_a_sheet_is_read_by_keyboard(sheet: Path) -> None:
    with chromium() as browser, served(sheet) as (url, _):
        page: Any = browser.new_page(viewport={"width": 360, "height": 800}, color_scheme="dark")
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto(url)
        page.get_by_label("Your name").fill("Ana")
        with page.expect_navigation():
            page.get_by_role("button", name="Begin").click()
        assert page.evaluate(CONTRAST) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        plain = "() => getComputedStyle(document.querySelector('mark')).backgroundColor"
        assert page.evaluate(plain) != "rgba(0, 0, 0, 0)"
        for keys in ("14", "23"):
            for key in keys:
                page.keyboard.press(key)
            with page.expect_navigation():
                page.keyboard.press("Enter")
        assert page.title().startswith("Pair 3 of 6, P")
        page.screenshot(path=sheet / "page.png")
        assert not errors
    _, readings = load_readings(sheet, [sheet / "answers.jsonl"])
    assert [(r.real, r.natural) for r in readings["Ana"].values()] == [(True, False), (False, True)]
