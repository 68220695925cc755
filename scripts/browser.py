"""Opens pages in chromium for screenshots. Needs playwright and an installed chromium."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TIMEOUT_MS = 60_000


@contextmanager
def chromium() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield browser
        browser.close()


@contextmanager
def opened(browser: "Browser", url: str, size: tuple[int, int], *, dark: bool = False) -> Iterator["Page"]:
    view = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    view.set_default_timeout(TIMEOUT_MS)
    view.goto(url)
    yield view
    view.close()


def scroll_to(view: "Page", selector: str) -> None:
    view.locator(selector).first.evaluate("e => e.scrollIntoView()")
