"""Takes screenshots of the served judge's page: `python -m scripts.screenshot_serve SPEC TEST_DATA --out docs/img`.

The judge SPEC judges a pair of TEST_DATA (a built data folder, such as runs/mini/data/test) in both orders. The
screenshots show the result in the light theme, the dark theme and on a phone, and a built-in example. Needs playwright
and an installed chromium.
"""

import argparse
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.records import Case, ReasoningPair
from scripts.browser import chromium, opened, scroll_to

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZE, PHONE = (1280, 940), (390, 844)
MAX_PAIRS = 40
"""Pairs to try until one gets the same judgment in both orders."""


@contextmanager
def serving(spec: str) -> Iterator[str]:
    """Serves the judge and yields the address."""
    import uvicorn

    from judge_r1.serving.app import create_app
    from judge_r1.serving.service import open_service

    server = uvicorn.Server(uvicorn.Config(create_app(open_service(spec)), log_level="warning"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        until = time.monotonic() + 60
        while not server.started:
            if time.monotonic() > until:
                raise SystemExit("the server did not start within 60 s")
            time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join(30)


def fill(view: "Page", case: Case, pair: ReasoningPair) -> None:
    view.get_by_label("Domain").fill(case.domain)
    view.get_by_label("Case").fill(case.context)
    view.get_by_label("Decision").fill(case.decision)
    view.get_by_label("Reasoning A").fill(pair.reasoning_a)
    view.get_by_label("Reasoning B").fill(pair.reasoning_b)


def judge_both(view: "Page") -> bool:
    """Judges in both orders. Returns whether both judgments agree and cite evidence."""
    view.get_by_role("button", name="Judge", exact=True).click()
    view.get_by_role("button", name="Swap the order and judge again").click()
    view.locator("#agreement").wait_for()
    return bool(view.locator("#agreement.agree").count() and view.locator("#case mark").count())


def good_pair(view: "Page", pairs: Sequence[tuple[Case, ReasoningPair]]) -> tuple[Case, ReasoningPair]:
    for case, pair in pairs[:MAX_PAIRS]:
        fill(view, case, pair)
        if judge_both(view):
            return case, pair
    raise SystemExit(f"none of {min(MAX_PAIRS, len(pairs))} pairs got the same judgment in both orders with evidence")


def draw(browser: "Browser", url: str, pairs: Sequence[tuple[Case, ReasoningPair]], out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with opened(browser, url, SIZE) as view:
        view.get_by_label("Example").select_option(index=1)
        view.screenshot(path=out / "serve-pair.png")
        case, pair = good_pair(view, pairs)
        view.locator(".show").first.click()
        scroll_to(view, "#result")
        view.screenshot(path=out / "serve-verdict.png")
        view.locator(".show").nth(1).click()
        scroll_to(view, "#read")
        view.screenshot(path=out / "serve-episode.png")
    with opened(browser, url, SIZE, dark=True) as view:
        fill(view, case, pair)
        judge_both(view)
        scroll_to(view, "#result")
        view.screenshot(path=out / "serve-dark.png")
    with opened(browser, url, PHONE) as view:
        fill(view, case, pair)
        judge_both(view)
        scroll_to(view, "#result")
        view.screenshot(path=out / "serve-phone.png")


def pairs_of(folder: Path) -> list[tuple[Case, ReasoningPair]]:
    """Returns the pairs with a P2 flaw: the judge has to search for the contradiction."""
    cases = {case.case_id: case for case in read_jsonl(folder / "cases.jsonl", Case, unique="case_id")}
    pairs = read_jsonl(folder / "pairs.jsonl", ReasoningPair, unique="pair_id")
    return [(cases[pair.case_id], pair) for pair in pairs if pair.violated == (2,)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("spec")
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/img"))
    given = parser.parse_args()
    with serving(given.spec) as url, chromium() as browser:
        draw(browser, url, pairs_of(given.data), given.out)


if __name__ == "__main__":
    main()
