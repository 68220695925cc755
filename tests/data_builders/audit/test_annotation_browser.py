"""The page in a browser: two rounds by keyboard with a kill between them, on desktop and phone screens."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from audit_factories import sample_pairs
from audit_server import served
from browser import CONTRAST, chromium

from data_builders.audit.annotation.agreement import agreement
from data_builders.build import write_pairs
from judge_r1.files.pair_set import PairSet
from judge_r1.labels.audit_answers import Choice, read_log


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def data(tmp_path: Path) -> PairSet:
    data = sample_pairs(3)
    write_pairs(data, tmp_path)
    return data


def open_page(browser: Any, url: str, width: int = 1280, height: int = 800, **options: Any) -> tuple[Any, list[str]]:
    """Open a page; the list collects errors of the script and of the content security policy."""
    page = browser.new_page(viewport={"width": width, "height": height}, **options)
    page.set_default_timeout(20_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(url)
    return page, errors


def begin(page: Any, name: str = "Ana Lee") -> None:
    page.get_by_label("Your name").fill(name)
    with page.expect_navigation():
        page.get_by_role("button", name="Begin").click()


def press_choice(page: Any, data: PairSet, right: bool) -> None:
    """Choose by keyboard and wait for the next page."""
    shown = page.inner_text("#reasoning-A .text")
    better = "A" if shown in {pair.reference for pair in data.pairs} else "B"
    other = "B" if better == "A" else "A"
    page.keyboard.press((better if right else other).lower())
    with page.expect_navigation():
        page.keyboard.press("Enter")


def test_two_rounds_by_keyboard_with_a_kill_between(browser: Any, data: PairSet, tmp_path: Path) -> None:
    with served(tmp_path) as (url, process):
        page, errors = open_page(browser, url)
        begin(page)
        assert page.title() == "Pair 1 of 6, round 1"
        page.keyboard.press("2")
        assert page.get_by_label("Factual Consistency").is_checked()
        page.get_by_label("Note").fill("a note with keys: a b d 1 2")
        page.locator("h1").click()
        press_choice(page, data, right=False)
        for _ in range(2):
            press_choice(page, data, right=True)
        assert page.title() == "Pair 4 of 6, round 1"
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=20)
        page.close()
    assert not errors
    first = read_log(tmp_path / "answers.jsonl", Choice)
    assert next((a.principles, a.note) for a in first) == ((2,), "a note with keys: a b d 1 2")
    with served(tmp_path) as (url, _):
        page, errors = open_page(browser, url)
        assert "3 of 6" in page.inner_text(".people")
        with page.expect_navigation():
            page.get_by_role("link", name="Ana Lee").click()
        assert page.title() == "Pair 4 of 6, round 1"
        press_choice(page, data, right=False)
        for _ in range(2):
            press_choice(page, data, right=True)
        assert "In round 2 you see 2 pairs again" in page.inner_text("main")
        with page.expect_navigation():
            page.get_by_role("link", name="Begin round 2").click()
        for _ in range(2):
            assert page.locator("input[name=choice]:checked").count() == 0
            press_choice(page, data, right=True)
        assert "You have finished" in page.inner_text("main")
        assert not errors
        page.close()
    overall = agreement(data, read_log(tmp_path / "answers.jsonl", Choice))[-1]
    assert overall.first is not None
    assert overall.second is not None
    assert (overall.first.share, overall.second.share) == (pytest.approx(4 / 6), 1.0)


@pytest.mark.parametrize(("width", "height", "scheme"), [(360, 700, "dark"), (800, 600, "light"), (1280, 800, "dark")])
def test_the_page_fits_the_screen_with_enough_contrast(
    browser: Any, data: PairSet, tmp_path: Path, width: int, height: int, scheme: str
) -> None:
    with served(tmp_path) as (url, _):
        page, errors = open_page(browser, url, width, height, color_scheme=scheme)
        assert page.evaluate(CONTRAST) == []
        begin(page, "W" * 40)
        page.locator("summary").click()
        page.get_by_label("Show differences").check()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(CONTRAST) == []
        button = page.get_by_role("button", name="Save and continue")
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box["height"] >= 44
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        assert not errors
        page.close()
