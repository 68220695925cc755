"""Takes the screenshots of the docs. Needs playwright and an installed chromium.

python -m scripts.screenshots report EVAL...              # the report of an evaluation, and the leaderboard of all
python -m scripts.screenshots serve SPEC TEST_DATA        # the page of a served judge, with a pair of a data folder
python -m scripts.screenshots trace SPEC TRACE QUESTION   # a judged trace, as a page and on a served judge
"""

import argparse
import os
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from judge_r1.core.records import Case, ReasoningPair
from judge_r1.files.jsonl import read_jsonl

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZE, PHONE = (1280, 900), (390, 844)
TIMEOUT_MS = 60_000
MAX_PAIRS = 40
"""Pairs to try until one gets the same judgment in both orders."""


@contextmanager
def chromium() -> Iterator["Browser"]:
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield browser
        browser.close()


@contextmanager
def opened(browser: "Browser", url: str, size: tuple[int, int] = SIZE, *, dark: bool = False) -> Iterator["Page"]:
    view = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    view.set_default_timeout(TIMEOUT_MS)
    view.goto(url)
    if view.locator("#items").count():
        view.locator("#browser").wait_for()
    yield view
    view.close()


def scroll_to(view: "Page", selector: str) -> None:
    view.locator(selector).first.evaluate("e => e.scrollIntoView()")


def draw_report(browser: "Browser", folders: Sequence[Path], out: Path) -> None:
    """The report of the first folder, and the leaderboard of all."""
    from judge_r1.evaluation.report.comparison import write_comparison

    url = (folders[0] / "report.html").absolute().as_uri()
    with opened(browser, url) as view:
        view.screenshot(path=out / "report-top.png")
        _open_item_with_evidence(view)
        view.screenshot(path=out / "report-item.png")
        scroll_to(view, ".read")
        view.screenshot(path=out / "report-episode.png")
    with opened(browser, url, dark=True) as view:
        _open_item_with_evidence(view)
        scroll_to(view, ".tools")
        view.screenshot(path=out / "report-dark.png")
    with opened(browser, url, PHONE) as view:
        _open_item_with_evidence(view)
        view.screenshot(path=out / "report-phone.png")
    with tempfile.TemporaryDirectory() as folder:
        write_comparison(list(folders), Path(folder) / "board.html")
        with opened(browser, (Path(folder) / "board.html").as_uri()) as view:
            view.screenshot(path=out / "report-leaderboard.png")


def _open_item_with_evidence(view: "Page") -> None:
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
    raise SystemExit("no item is wrong for the first judge and right for another with evidence: use labelled pairs")


def draw_serve(browser: "Browser", url: str, pairs: Sequence[tuple[Case, ReasoningPair]], out: Path) -> None:
    """An example and a judged pair on the page of a served judge."""
    with opened(browser, url) as view:
        view.get_by_label("Example").select_option(index=1)
        view.screenshot(path=out / "serve-pair.png")
        good = next((pair for pair in pairs[:MAX_PAIRS] if _judge_both(view, *pair)), None)
        if good is None:
            raise SystemExit("no pair got the same judgment in both orders with evidence")
        for number, (name, part) in enumerate((("verdict", "#result"), ("episode", "#read"))):
            view.locator(".show").nth(number).click()
            scroll_to(view, part)
            view.screenshot(path=out / f"serve-{name}.png")
    for name, size, dark in (("dark", SIZE, True), ("phone", PHONE, False)):
        with opened(browser, url, size, dark=dark) as view:
            _judge_both(view, *good)
            scroll_to(view, "#result")
            view.screenshot(path=out / f"serve-{name}.png")


def _judge_both(view: "Page", case: Case, pair: ReasoningPair) -> bool:
    """Judges in both orders. Returns whether both judgments agree and cite evidence."""
    for label, text in (("Domain", case.domain), ("Case", case.context), ("Decision", case.decision)):
        view.get_by_label(label).fill(text)
    view.get_by_label("Reasoning A").fill(pair.reasoning_a)
    view.get_by_label("Reasoning B").fill(pair.reasoning_b)
    view.get_by_role("button", name="Judge", exact=True).click()
    view.get_by_role("button", name="Swap the order and judge again").click()
    view.locator("#agreement").wait_for()
    return bool(view.locator("#agreement.agree").count() and view.locator("#case mark").count())


def draw_trace(browser: "Browser", spec: str, trace: Path, question: str, out: Path) -> None:
    """The page that `judge-r1 judge --html` writes, and a served judge with the trace dropped on it."""
    from judge_r1.api import load_judge
    from judge_r1.evaluation.report.trace_page import trace_page

    found = load_judge(spec)(trace=trace, question=question)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "trace.html"
        page.write_text(trace_page(found, title=trace.name), encoding="utf-8")
        with opened(browser, page.as_uri()) as view:
            view.screenshot(path=out / "trace-page.png")
    with serving(spec) as url, opened(browser, url) as view:
        view.locator("#file").set_input_files(trace)
        view.wait_for_function("document.querySelector('[name=context]').value")
        asked = view.get_by_label("Decision").input_value().partition("\n")[2]
        view.get_by_label("Decision").fill(f"{question}\n{asked}")
        view.get_by_role("button", name="Judge", exact=True).click()
        view.locator("#swap").wait_for()
        scroll_to(view, "#result")
        view.screenshot(path=out / "trace-serve.png")


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


def _fact_pairs(folder: Path) -> list[tuple[Case, ReasoningPair]]:
    """The pairs with a P2 flaw: the judge has to search for the contradiction."""
    cases = {case.case_id: case for case in read_jsonl(folder / "cases.jsonl", Case, unique="case_id")}
    pairs = read_jsonl(folder / "pairs.jsonl", ReasoningPair, unique="pair_id")
    return [(cases[pair.case_id], pair) for pair in pairs if pair.violated == (2,)]


def main() -> None:
    from judge_r1.judges.trace_tasks import with_trace_options

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", choices=["report", "serve", "trace"])
    parser.add_argument("given", nargs="+", help="the arguments of that page")
    parser.add_argument("--out", type=Path, default=Path("docs/img"))
    options = parser.parse_args()
    given, out = options.given, options.out
    out.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        if options.page == "report":
            draw_report(browser, [Path(one) for one in given], out)
        elif options.page == "serve":
            with serving(given[0]) as url:
                draw_serve(browser, url, _fact_pairs(Path(given[1])), out)
        else:
            draw_trace(browser, with_trace_options(given[0]), Path(given[1]), given[2], out)


if __name__ == "__main__":
    main()
