"""Takes screenshots of the report for the docs: `python -m scripts.screenshot_report EVAL... --out docs/img`.

Shows the page of the first evaluation from the top, at an item with its episode, filtered, in the dark theme and on a
phone. The leaderboard covers all evaluations. Needs playwright and an installed chromium.
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from judge_r1.evaluation.report.comparison import write_comparison
from scripts.browser import chromium, opened, scroll_to

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZE, PHONE = (1280, 860), (390, 844)


@contextmanager
def report(browser: "Browser", page: Path, size: tuple[int, int], *, dark: bool = False) -> Iterator["Page"]:
    """Opens a report and waits until its items can be browsed."""
    with opened(browser, page.absolute().as_uri(), size, dark=dark) as view:
        if view.locator("#items").count():
            view.locator("#browser").wait_for()
        yield view


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
    with report(browser, page, SIZE) as view:
        view.screenshot(path=out / "report-top.png")
        item_with_evidence(view)
        view.screenshot(path=out / "report-item.png")
        scroll_to(view, ".read")
        view.screenshot(path=out / "report-episode.png")
    with report(browser, page, SIZE, dark=True) as view:
        item_with_evidence(view)
        scroll_to(view, ".tools")
        view.screenshot(path=out / "report-dark.png")
    with report(browser, page, PHONE) as view:
        item_with_evidence(view)
        view.screenshot(path=out / "report-phone.png")
    with tempfile.TemporaryDirectory() as folder:
        write_comparison(folders, Path(folder) / "board.html")
        with report(browser, Path(folder) / "board.html", SIZE) as view:
            view.screenshot(path=out / "report-leaderboard.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("evaluations", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/img"))
    given = parser.parse_args()
    with chromium() as browser:
        draw(browser, given.evaluations, given.out)


if __name__ == "__main__":
    main()
