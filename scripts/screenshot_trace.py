"""Takes screenshots of a judged trace: `python -m scripts.screenshot_trace SPEC TRACE QUESTION --out docs/img`.

Shows the page that `judge-r1 judge --html` writes, and the page of a served judge after the trace was dropped on it.
Needs playwright and an installed chromium.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from judge_r1.api import load_judge
from judge_r1.evaluation.report.trace_page import trace_page
from judge_r1.judges.traces import with_trace_options
from scripts.browser import chromium, opened, scroll_to
from scripts.screenshot_serve import serving

SIZE = (1000, 820)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("spec")
    parser.add_argument("trace", type=Path)
    parser.add_argument("question")
    parser.add_argument("--out", type=Path, default=Path("docs/img"))
    given = parser.parse_args()
    spec = with_trace_options(given.spec)
    found = load_judge(spec)(trace=given.trace, question=given.question)
    with TemporaryDirectory() as folder, chromium() as browser:
        page = Path(folder) / "trace.html"
        page.write_text(trace_page(found, title=given.trace.name), encoding="utf-8")
        with opened(browser, page.as_uri(), SIZE) as view:
            view.screenshot(path=given.out / "trace-page.png")
        with serving(spec) as url, opened(browser, url, (1280, 940)) as view:
            view.locator("#file").set_input_files(given.trace)
            view.wait_for_function("document.querySelector('[name=context]').value")
            asked = view.get_by_label("Decision").input_value().partition("\n")[2]
            view.get_by_label("Decision").fill(f"{given.question}\n{asked}")
            view.get_by_role("button", name="Judge", exact=True).click()
            view.locator("#swap").wait_for()
            scroll_to(view, "#result")
            view.screenshot(path=given.out / "trace-serve.png")


if __name__ == "__main__":
    main()
