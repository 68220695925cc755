"""Pages in a real browser: start chromium, wait for conditions, measure text contrast."""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CONTRAST = """
() => {
  const light = (text) => {
    const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3)
      .map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    const color = getComputedStyle(e).backgroundColor;
    return /rgba\\(.*, 0\\)|transparent|color\\(/.test(color) ? ground(e.parentElement) : color;
  };
  const seen = "h1, h2, h3, h4, p, label, legend, a, button, summary, textarea, th, td, dt, dd, mark";
  const named = ", .text, .kind, .chip, .soft, .ci, .tag, .marks span, .entry div";
  return [...document.querySelectorAll(seen + named)]
    .filter((e) => e.textContent.trim() && e.checkVisibility())
    .map((e) => {
      const [a, b] = [light(getComputedStyle(e).color), light(ground(e))].sort((x, y) => y - x);
      return [e.tagName + "." + e.className, Math.round(100 * (a + 0.05) / (b + 0.05)) / 100];
    })
    .filter(([, ratio]) => ratio < 4.5);
}
"""


@contextmanager
def chromium() -> Iterator[Any]:
    """Starts an installed chromium; skips the test if there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with playwright.sync_playwright() as play:
        if path is None and not Path(play.chromium.executable_path).exists():
            pytest.skip("no chromium is installed")
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        opened = play.chromium.launch(executable_path=path, args=options)
        try:
            yield opened
        finally:
            opened.close()


def until(page: Any, condition: str) -> None:
    """Polls a condition from Python, because the page's content policy forbids evaluating a wait inside it."""
    end = time.monotonic() + 90
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        time.sleep(0.05)
