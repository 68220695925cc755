"""Takes screenshots of the report for the docs: `python scripts/screenshot_report.py EVAL... --out docs/img`.

Shows the page of the first evaluation from the top, at an item with its episode, filtered, in the dark theme and on a
phone. The leaderboard covers all evaluations. Needs playwright and an installed chromium.
"""

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from judge_r1.evaluation.report.comparison import write_comparison

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TIMEOUT_MS = 20_000


@contextmanager
def opened(browser: "Browser", page: Path, size: tuple[int, int], *, dark: bool = False) -> Iterator["Page"]:
    view = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    view.set_default_timeout(TIMEOUT_MS)
    view.goto(page.absolute().as_uri())
    if view.locator("#items").count():
        view.locator("#browser").wait_for()
    yield view
    view.close()


def item_with_evidence(view: "Page") -> None:
    """Opens an item that the first judge gets wrong and another one gets right with the evidence."""
    view.select_option("select[name=row]", "0")
    view.select_option("select[name=state]", "wrong")
    for _ in range(200):
        view.keyboard.press("j")
        for number in range(2, 1 + min(9, view.locator(".judge[role=radio]").count())):
            view.keyboard.press(str(number))
            shown = view.locator("#case mark.shown.wanted").count()
            if shown and view.locator(".judge[aria-checked=true] .right").count():
                return
    raise SystemExit(
        "found no item that the first judge gets wrong and another gets right with evidence: use labelled pairs"
    )


def draw(browser: "Browser", folders: list[Path], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    page = folders[0] / "report.html"
    with opened(browser, page, (1280, 860)) as view:
        view.screenshot(path=out / "report-top.png")
        item_with_evidence(view)
        view.screenshot(path=out / "report-item.png")
        view.locator(".read").evaluate("e => e.scrollIntoView()")
        view.screenshot(path=out / "report-episode.png")
    with opened(browser, page, (1280, 860), dark=True) as view:
        item_with_evidence(view)
        view.locator(".tools").first.evaluate("e => e.scrollIntoView()")
        view.screenshot(path=out / "report-dark.png")
    with opened(browser, page, (390, 844)) as view:
        item_with_evidence(view)
        view.screenshot(path=out / "report-phone.png")
    with tempfile.TemporaryDirectory() as folder:
        write_comparison(folders, Path(folder) / "board.html")
        with opened(browser, Path(folder) / "board.html", (1280, 860)) as view:
            view.screenshot(path=out / "report-leaderboard.png")


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("evaluations", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/img"))
    given = parser.parse_args()
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        draw(browser, given.evaluations, given.out)
        browser.close()


if __name__ == "__main__":
    main()
