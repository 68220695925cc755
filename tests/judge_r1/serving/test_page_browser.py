"""The page in a real browser against a real server: judging, swapping, traces, cancelling and errors."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trace_judge
from browser import CONTRAST, chromium, until
from fake_judge_endpoint import JudgeServer
from page_factories import (
    BAD,
    CASE,
    GOOD,
    PAIR_TEXTS,
    StepControl,
    prefers_first,
    press_judge,
    searching_server,
    visited,
    whole_text,
    write_pair,
)
from paths import REPO
from serving_fixture import BlockedJudge, LiveServer, service, wait_for

from judge_r1.core.case_store import CaseStore
from judge_r1.core.principles import by_number
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_judge
from judge_r1.serving.middleware.api_keys import KeyFile, add_key
from judge_r1.serving.middleware.body_limit import Limits

TRACES = REPO / "tests" / "judge_r1" / "traces" / "data"
EVIL = "</script><img src=x onerror=alert(1)><script>alert(2)</script>{{ data }}"
SWAP = "Swap the order and judge again"
GOOD_SPAN, BAD_SPAN = "ana paid 34.", "ben paid nothing."
FIRST = f"\N{GRINNING FACE} {GOOD_SPAN}"  # the passage that holds it


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@contextmanager
def small_server(browser: Any, judge: BlockedJudge, **queue: Any) -> Iterator[tuple[LiveServer, Any]]:
    """A server with a small case limit, and its page."""
    served = service(judge, limits=Limits(case=1000), **queue)
    with LiveServer(served) as server, visited(browser, server.url) as (page, _):
        yield server, page


def marked(page: Any) -> list[str]:
    """The marked texts of the case, without the search numbers."""
    return list(page.locator("#case mark").evaluate_all("all => all.map((e) => e.firstChild.data)"))


def test_the_page_shows_an_episode_turn_by_turn(browser: Any) -> None:
    steps = StepControl()
    with searching_server(wait=steps) as server, visited(browser, server.url) as (page, page_errors):
        write_pair(page, PAIR_TEXTS)
        page.locator("[name=reasoning_b]").press("Control+Enter")
        page.get_by_text("Thinking").first.wait_for()
        assert page.get_by_role("button", name="Judging…").is_disabled()
        assert page.locator("mark.shown").count() == 0
        steps.step()
        page.locator("#case mark.shown").wait_for()
        assert page.locator("#case mark").evaluate("e => e.firstChild.data") == FIRST
        assert page.locator(".card .verdict").inner_text() == "Reading and thinking"
        assert "ana paid" in page.inner_text("#status")
        assert page.locator(".think .text").all_inner_texts() == ["who paid, and <b>how much</b>?"]
        assert page.locator(".search .text").all_inner_texts() == ["ana paid"]
        steps.step()
        page.locator("#case mark >> nth=1").wait_for()
        assert page.locator(".card h4").count() == 0
        steps.release_all()
        page.get_by_role("button", name=SWAP).wait_for()
        assert whole_text(page, "#case") == CASE
        assert marked(page) == [FIRST, BAD_SPAN]
        assert page.locator("#case .tag").all_inner_texts() == ["1", "2"]
        assert page.locator(".card .verdict").inner_text() == "A is better"
        card = page.inner_text(".card")
        assert "B violates" in card
        assert "99 was never paid" in card
        assert f"{by_number(2).name}\n{by_number(2).definition}" in card
        assert "2 searches" in card
        assert page.inner_text("#status") == "A is better."
        assert page.locator("mark.diff").all_inner_texts() == ["34", "99"]
        page.locator("button.passage").nth(1).click()
        assert page.locator("#case .here").evaluate("e => e.firstChild.data") == BAD_SPAN
        page.get_by_role("button", name="Next mark").click()
        assert page.locator("#case .here").evaluate("e => e.firstChild.data") == FIRST
        assert not page_errors


def test_a_long_reasoning_keeps_step_numbers_and_marks_whole_numbers(browser: Any) -> None:
    step = (
        "The dose of the drug was 1.2 mg/kg on 5 May 2024, as Dr. Miller wrote on the chart of the ward (cf. Fig. 2)."
    )
    good = " ".join(f"{number}. {step}" for number in (1, 2, 3))
    with LiveServer(service("longer")) as server, visited(browser, server.url) as (page, page_errors):
        bad = good.replace("1.2 mg/kg", "2.1 mg/kg", 1).replace("5 May", "15 May", 1)
        write_pair(page, PAIR_TEXTS | {"reasoning_a": good, "reasoning_b": bad})
        press_judge(page)
        page.locator("#swap").wait_for()
        rows = page.locator("#sides .row > div:first-child").all_inner_texts()
        assert [row.strip() for row in rows] == [f"{number}. {step}" for number in (1, 2, 3)]
        assert page.locator("mark.diff").all_inner_texts() == ["1.2", "5 May 2024", "2.1", "15 May 2024"]
        assert not page_errors


def test_swapping_the_order_compares_both_verdicts(browser: Any) -> None:
    with searching_server() as server, visited(browser, server.url) as (page, page_errors):
        write_pair(page, PAIR_TEXTS)
        press_judge(page)
        page.get_by_role("button", name=SWAP).click()
        page.locator("#agreement").wait_for()
        assert page.locator(".order").all_inner_texts() == ["A shown first", "B shown first"]
        assert page.locator(".verdict").all_inner_texts() == ["A is better"] * 2
        assert page.inner_text("#agreement") == "Both orders agree that A is better, and name the same principles."
        assert page.inner_text("#status").endswith(page.inner_text("#agreement"))
        assert '"A<B"' in page.inner_text("#episode")
        assert "its A is your B" in page.inner_text("#episode")
        page.get_by_role("button", name="Show its episode").click()
        assert '"A>B"' in page.inner_text("#episode")
        assert page.evaluate("document.activeElement.textContent") == "Its episode is below"
        assert page.locator("[name=reasoning_a]").input_value() == GOOD
        assert not page.get_by_role("button", name=SWAP).is_visible()
        assert not page_errors


def test_the_page_reports_orders_that_disagree(browser: Any) -> None:
    with searching_server(prefers_first) as server, visited(browser, server.url) as (page, _):
        write_pair(page, PAIR_TEXTS)
        press_judge(page)
        page.get_by_role("button", name=SWAP).click()
        page.locator("#agreement").wait_for()
        assert page.locator(".verdict").all_inner_texts() == ["A is better", "B is better"]
        assert (
            page.inner_text("#agreement")
            == "The two orders disagree: both times the judge preferred the reasoning shown first."
        )
        press_judge(page)
        page.get_by_role("button", name=SWAP).wait_for()
        assert page.locator(".card").count() == 1  # judging again starts over


def test_a_saved_trace_opens_without_a_request_to_the_server(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    with searching_server() as server, visited(browser, server.url) as (page, page_errors):
        write_pair(page, PAIR_TEXTS)
        press_judge(page)
        page.get_by_role("button", name=SWAP).click()
        page.locator("#agreement").wait_for()
        shown = [page.inner_text(selector) for selector in ("#cards", "#agreement", "#episode", "#sides")]
        with page.expect_download() as download:
            page.get_by_role("button", name="Save the trace").click()
        download.value.save_as(path)
        assert download.value.suggested_filename.startswith("trace-")
        assert not page_errors
        saved = json.loads(path.read_text())
        assert saved["request"] == PAIR_TEXTS | {"domain": "general"}
        assert [run["swapped"] for run in saved["games"]] == [False, True]
        with visited(browser, server.url) as (again, more_errors):
            requests: list[str] = []
            again.on("request", lambda request: requests.append(request.url))
            again.locator("#file").set_input_files(path)
            again.locator("#agreement").wait_for()
            again.locator(".show").nth(1).click()
            assert [again.inner_text(selector) for selector in ("#cards", "#agreement", "#episode", "#sides")] == shown
            assert "Opened from mine.json" in again.inner_text("#origin")
            assert again.locator("[name=context]").input_value() == CASE
            again.reload()
            requests.clear()
            again.evaluate(
                """(text) => {
                  const transfer = new DataTransfer();
                  transfer.items.add(new File([text], "dropped.json"));
                  const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
                  const dragEvent = (type) => new DragEvent(type, options);
                  for (const type of ["dragover", "drop"]) document.body.dispatchEvent(dragEvent(type));
                }""",
                path.read_text(),
            )
            again.locator("#agreement").wait_for()
            assert "dropped.json" in again.inner_text("#origin")
            assert not requests
            assert not more_errors


BROKEN = {
    "words": "no json",
    "other": '{"format": "something else"}',
    "version": '{"format": "judge_r1 trace", "version": 9}',
    "request": '{"format": "judge_r1 trace", "version": 1, "request": {"context": 3}, "games": []}',
    "null": "null",
}


def broken_traces(good: dict[str, Any]) -> dict[str, str]:
    """Variants of a valid trace, each with one mistake, by name."""
    texts = dict(BROKEN)
    for name, change in {
        "no games": {"games": []},
        "same order": {"games": [good["games"][0]] * 2},
        "no verdict": {"games": [good["games"][0] | {"verdict": None}]},
        "sure": {"games": [good["games"][0] | {"verdict": good["games"][0]["verdict"] | {"confidence": 7}}]},
        "passages": {
            "games": [good["games"][0] | {"turns": [{"text": "x", "query": None, "passages": [1], "notice": None}]}]
        },
    }.items():
        texts[name] = json.dumps(good | change)
    return texts


def trace_of(**verdict: Any) -> dict[str, Any]:
    default = {
        "id": "0" * 32, "judge": "toy", "valid": True, "winner": "A", "comparison": "A>B", "explanation": None,
        "violated_principles": [{"number": 2, "name": "x"}], "confidence": 0.5, "evidence": [], "searches": 1,
        "ended": "answer", "seconds": 0.1,
    }  # fmt: skip
    run = {"swapped": False, "turns": [], "verdict": default | verdict}
    return {"format": "judge_r1 trace", "version": 1, "made": "2026-11-22T10:00:00Z",
            "request": PAIR_TEXTS | {"domain": "general"}, "games": [run]}  # fmt: skip


def test_invalid_trace_files_are_rejected_with_one_sentence(browser: Any, tmp_path: Path) -> None:
    with LiveServer(service("longer")) as server, visited(browser, server.url) as (page, page_errors):
        for name, text in broken_traces(trace_of()).items():
            (tmp_path / name).write_text(text)
            page.locator("#file").set_input_files(tmp_path / name)
            until(page, f"document.getElementById('problem').textContent.startsWith('{name} cannot be opened: ')")
            assert page.inner_text("#problem").endswith(".")
            assert ". " not in page.inner_text("#problem")
            assert page.locator("#result").is_hidden()
        (tmp_path / "good").write_text(json.dumps(trace_of()))
        page.locator("#file").set_input_files(tmp_path / "good")
        page.locator(".card").wait_for()
        assert page.locator("#problem").is_hidden()
        assert all("422" in error for error in page_errors)  # the browser reports each refusal


def test_offsets_count_characters_and_wrong_ones_are_not_marked(browser: Any, tmp_path: Path) -> None:
    offsets = ((2, 14, GOOD_SPAN), (3, 15, GOOD_SPAN), (40, 4000, "beyond"))
    passages = [{"start": start, "end": end, "text": text, "score": 1.0} for start, end, text in offsets]
    trace = trace_of()
    turns = [{"text": "<think>open <search>q</search>", "query": "q", "passages": passages, "notice": "no more"}]
    trace["games"][0]["turns"] = [*turns, {"text": "bare <answer>{}", "query": None, "passages": [], "notice": None}]
    (tmp_path / "t.json").write_text(json.dumps(trace))
    with LiveServer(service("longer")) as server, visited(browser, server.url) as (page, page_errors):
        page.locator("#file").set_input_files(tmp_path / "t.json")
        page.locator(".card").wait_for()
        assert marked(page) == [GOOD_SPAN]
        assert page.locator("button.passage").count() == 1
        assert page.locator("div.passage").count() == 2
        kinds = page.locator(".block .kind").all_inner_texts()
        assert kinds == ["thinks (never closed)", "writes", "answers (never closed)"]
        assert page.locator("#episode .notice").inner_text() == "Notice: no more"
        assert not page_errors


@pytest.mark.parametrize("by", ["button", "escape"])
def test_cancelling_stops_the_judge(browser: Any, by: str) -> None:
    blocked = BlockedJudge()
    with LiveServer(service(blocked)) as server, visited(browser, server.url) as (page, page_errors):
        write_pair(page, PAIR_TEXTS)
        press_judge(page)
        wait_for(lambda: blocked.running == 1)
        if by == "button":
            page.get_by_role("button", name="Cancel").click()
        else:
            page.keyboard.press("Escape")
        wait_for(lambda: blocked.cancelled == 1 and blocked.running == 0)
        until(page, "document.getElementById('status').textContent === 'Cancelled. The judge has stopped.'")
        assert page.locator("#result").is_hidden()
        assert page.locator("#problem").is_hidden()
        assert page.locator("[name=context]").input_value() == CASE
        blocked.release.set()
        press_judge(page)
        page.locator(".card .verdict").get_by_text("tie").wait_for()
        blocked.release.clear()
        page.get_by_role("button", name=SWAP).click()
        wait_for(lambda: blocked.running == 1)
        page.get_by_role("button", name="Cancel").click()
        wait_for(lambda: blocked.running == 0)
        until(page, "document.querySelectorAll('.card').length === 1")
        assert page.inner_text(".card .verdict") == "A tie"
        assert not page_errors


def test_the_page_asks_for_a_key_and_keeps_it_in_memory_only(browser: Any, tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    secret = add_key(keys, "ana", per_minute=2)
    with (
        LiveServer(service("longer", keys=KeyFile(keys))) as server,
        visited(browser, server.url) as (page, page_errors),
    ):
        assert page.inner_text("#judge-name") == ""
        write_pair(page, PAIR_TEXTS | {"reasoning_a": GOOD + " long"})
        press_judge(page)
        field = page.get_by_label("API key")
        field.wait_for()
        assert page.evaluate("document.activeElement.name") == "key"
        assert page.inner_text("#problem") == "This server asks for an API key."
        field.fill("wrong")
        field.press("Enter")
        page.get_by_text("This API key is not valid").wait_for()
        field.fill(secret)
        field.press("Enter")
        page.get_by_role("button", name=SWAP).wait_for()
        assert page.locator("#problem").is_hidden()
        assert not field.is_visible()
        page.get_by_role("button", name=SWAP).click()
        page.locator("#agreement").wait_for()
        stored = "[localStorage.length, sessionStorage.length, document.cookie, location.href]"
        assert page.evaluate(stored) == [0, 0, "", f"{server.url}/"]
        assert secret not in page.content()
        press_judge(page)  # the third in this minute
        page.get_by_role("button", name="Judge in").wait_for()
        text = page.inner_text("#problem")
        assert text.startswith("The key's limit is 2 judgments per minute: try again in ")
        assert text.endswith(" s.")
        assert page.get_by_role("button", name="Judge in").is_disabled()
        assert all("401" in text or "429" in text for text in page_errors)  # the browser's own lines


def test_errors_are_one_sentence(browser: Any) -> None:
    blocked = BlockedJudge()
    with small_server(browser, blocked, max_concurrency=1, queue_size=0) as (server, page):
        press_judge(page)
        assert page.inner_text("#problem") == "Reasoning A is empty: write or paste one."
        assert page.evaluate("document.activeElement.name") == "reasoning_a"
        write_pair(page, PAIR_TEXTS)
        page.locator("[name=domain]").fill("über; drop")
        press_judge(page)
        assert page.inner_text("#problem").startswith("The domain is a plain word or two")
        page.locator("[name=domain]").fill("")
        page.locator("[name=context]").fill("x" * 1001)
        assert page.inner_text("#count-context") == "1 word, 1.00 kB of 1.00 kB"
        press_judge(page)
        assert page.inner_text("#problem") == "The case has 1.00 kB; the limit of this server is 1.00 kB: shorten it."
        page.locator("[name=context]").fill("one two\nthree")
        assert page.inner_text("#count-context") == "3 words, 13 B of 1.00 kB"
        with visited(browser, server.url) as (busy, _):
            write_pair(busy, PAIR_TEXTS)
            press_judge(busy)
            wait_for(lambda: blocked.running == 1)
            press_judge(page)
            page.get_by_role("button", name="Judge in").wait_for()
            assert page.inner_text("#problem") == "The queue is full: try again in 1 s."
            page.locator("[name=decision]").press("Control+Enter")  # ignored until the wait is over
            assert blocked.started == 1
            blocked.release.set()
            page.get_by_role("button", name="Judge", exact=True).wait_for()
            until(page, "!document.getElementById('judge').disabled")
        press_judge(page)
        page.locator("#swap").wait_for()
        assert page.locator("#problem").is_hidden()
    with small_server(browser, BlockedJudge(), timeout=0.3) as (_, page):
        write_pair(page, PAIR_TEXTS)
        press_judge(page)
        until(page, "!document.getElementById('problem').hidden")
        assert page.inner_text("#problem") == "No judgment within 0.3 s."
        assert page.locator("#result").is_hidden()


def test_an_unreachable_server_is_reported(browser: Any) -> None:
    with LiveServer(service("longer")) as server:
        opened = visited(browser, server.url)
        page, _ = opened.__enter__()
        write_pair(page, PAIR_TEXTS)
    press_judge(page)
    until(page, "!document.getElementById('problem').hidden")
    assert page.inner_text("#problem") == "The server cannot be reached: is it still running?"
    opened.__exit__(None, None, None)


def test_hostile_texts_are_shown_as_text(browser: Any, tmp_path: Path) -> None:
    evil = dict.fromkeys(("context", "decision"), EVIL) | {"reasoning_a": EVIL + "1", "reasoning_b": EVIL}
    trace = trace_of(explanation=EVIL, judge=EVIL, ended=EVIL, violated_principles=[{"number": 66, "name": EVIL}])
    trace["request"] = evil | {"domain": EVIL}
    passage = {"start": 0, "end": len(EVIL), "text": EVIL, "score": 1.0}
    trace["games"][0]["turns"] = [
        {"text": f"<think>{EVIL}</think>", "query": EVIL, "passages": [passage], "notice": EVIL}
    ]
    path = tmp_path / "<img src=x>.json"
    path.write_text(json.dumps(trace))
    with LiveServer(service("longer")) as server, visited(browser, server.url) as (page, page_errors):
        write_pair(page, evil)
        press_judge(page)
        page.locator("#swap").wait_for()
        assert whole_text(page, "#case") == EVIL
        assert page.locator(".pair .row").count() >= 1
        page.locator("#file").set_input_files(path)
        page.locator("#origin").wait_for()
        for selector in (".card", "#episode"):
            assert EVIL in page.inner_text(selector)
        assert path.name in page.inner_text("#origin")
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 2
        assert not page_errors


def test_the_content_policy_blocks_scripts_and_requests(browser: Any) -> None:
    with LiveServer(service("longer")) as server, visited(browser, server.url) as (page, page_errors):
        refused = page.evaluate(
            """() => { try { document.body.innerHTML = "<p>x"; } catch (error) { return error.name; } }"""
        )
        assert refused == "TypeError"
        sent = page.evaluate("() => fetch('https://example.invalid/').then(() => 'sent', (error) => error.name)")
        assert sent == "TypeError"
        assert any("Content Security Policy" in text for text in page_errors)
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.reload()
        assert requests == [f"{server.url}/"]  # one document and nothing else


@pytest.mark.parametrize(("width", "height"), [(360, 740), (820, 700), (1440, 900)])
def test_the_page_fits_the_screen_with_enough_contrast(browser: Any, width: int, height: int) -> None:
    with searching_server() as server, visited(browser, server.url, width, height) as (page, page_errors):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        write_pair(page, PAIR_TEXTS | {"reasoning_b": BAD + "\n" + "w" * 200})
        press_judge(page)
        page.get_by_role("button", name=SWAP).click()
        page.locator("#agreement").wait_for()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(CONTRAST) == []
        assert not page_errors


def test_every_control_has_a_label_and_a_tab_position(browser: Any) -> None:
    unnamed = """() => [...document.querySelectorAll("input, select, textarea, button")]
      .filter((e) => !(e.labels?.length || e.textContent.trim() || e.getAttribute("aria-label")))
      .map((e) => e.outerHTML)"""
    with searching_server() as server, visited(browser, server.url) as (page, page_errors):
        assert page.evaluate(unnamed) == []
        order = []
        for _ in range(8):
            page.keyboard.press("Tab")
            order.append(page.evaluate("document.activeElement.name || document.activeElement.id"))
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        assert order == ["example", "domain", "open", "context", "decision", "reasoning_a", "reasoning_b", "judge"]
        page.locator("[name=example]").focus()
        page.keyboard.press("ArrowDown")
        assert page.locator("[name=reasoning_a]").input_value()
        write_pair(page, PAIR_TEXTS)
        assert page.locator("[name=example]").input_value() == ""
        page.locator("#judge").focus()
        page.keyboard.press("Enter")
        page.locator("#swap").wait_for()
        assert page.evaluate(unnamed) == []
        live = page.locator("[role=status]")
        assert live.get_attribute("aria-live") == "polite"
        assert live.inner_text() == "A is better."
        assert not page_errors


def test_an_example_shows_its_gold_label(browser: Any) -> None:
    with LiveServer(service("longer")) as server, visited(browser, server.url) as (page, page_errors):
        options = page.locator("[name=example] option").all_inner_texts()
        assert len(options) == 5
        page.select_option("[name=example]", index=2)
        assert page.locator("[name=domain]").input_value() == "legal"
        assert page.inner_text("#count-context").endswith("of 2.10 MB")
        press_judge(page)
        page.locator("#swap").wait_for()
        assert page.inner_text("#gold") == "Gold: A is better; the other reasoning violates P1, P3."
        page.locator("[name=context]").press("End")
        page.keyboard.type("!")
        press_judge(page)
        until(page, "document.getElementById('gold').hidden")
        assert not page_errors


def test_the_trace_of_an_agent_fills_the_form_and_is_judged(browser: Any) -> None:
    cases, options = CaseStore(), "context=none,retriever=bm25,prompt=search-r1"
    with JudgeServer(trace_judge.answer) as model:
        judge = make_judge(f"agentic:{options}@{model.url}#m", JudgeBuild("", texts=cases))
        with LiveServer(service(judge, cases=cases)) as server, visited(browser, server.url) as (page, page_errors):
            page.locator("#file").set_input_files(TRACES / "calc.eval")
            until(page, "document.querySelector('[name=context]').value.startsWith('[trace 1]')")
            assert page.input_value("[name=reasoning_a]") == "Yes."
            assert "tools: bash (3 calls)" in page.input_value("[name=decision]")
            press_judge(page)
            page.locator("#swap").wait_for()
            assert any("command: python3 test_calc.py" in text for text in marked(page))
            assert not page_errors
