"""A judge for page tests: over HTTP it searches twice and answers, one step per `StepControl.step()`."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fake_judge_endpoint import JudgeServer, chat_completion
from serving_fixture import LiveServer, service

from judge_r1.core.case_store import CaseStore
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_judge

CASE = "\N{GRINNING FACE} ana paid 34. ben paid nothing. cleo left town."
GOOD, BAD = "1. ana paid 34. 2. so ben owes.", "1. ana paid 99. 2. so ben owes."
PAIR_TEXTS = {"context": CASE, "decision": "ben owes", "reasoning_a": GOOD, "reasoning_b": BAD}
OPTIONS = "context=none,prompt=compact,retriever=bm25,budget.top_k=1,budget.passage_words=3,budget.max_searches=3"
TIMEOUT_MS = 20_000
"""Timeout of page operations."""


class StepControl:
    """Makes an endpoint wait until the test allows the next answer (`step`) or all answers (`release_all`)."""

    def __init__(self) -> None:
        self._steps = threading.Semaphore(0)

    def __call__(self) -> None:
        assert self._steps.acquire(timeout=60)

    def step(self) -> None:
        self._steps.release()

    def release_all(self) -> None:
        self._steps.release(10_000)


def prefers_good(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Prefers GOOD in both positions; names principle 2."""
    prompt = body["messages"][1]["content"]
    return _step(body, "A>B" if prompt.index(GOOD) < prompt.index(BAD) else "A<B")


def prefers_first(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    return _step(body, "A>B")


def _step(body: dict[str, Any], comparison: str) -> tuple[int, Any]:
    turn = (len(body["messages"]) - 2) // 2
    if turn == 0:
        return chat_completion("<think>who paid, and <b>how much</b>?</think><search>ana paid")
    if turn == 1:
        return chat_completion("<think>and the other?</think><search>ben paid nothing")
    judgment = {"comparison": comparison, "violated_principles": [2], "explanation": "99 was never paid"}
    return chat_completion(f"<answer>{json.dumps(judgment)}")


@contextmanager
def searching_server(answer: Any = prefers_good, wait: Any = lambda: None, **settings: Any) -> Iterator[LiveServer]:
    cases = CaseStore()
    with JudgeServer(answer, wait=wait) as endpoint:
        judge = make_judge(f"agentic:{OPTIONS}@{endpoint.url}#toy", JudgeBuild("", texts=cases))
        with LiveServer(service(judge, cases=cases, **settings)) as server:
            yield server


@contextmanager
def visited(
    browser: Any, url: str, width: int = 1280, height: int = 900, **options: Any
) -> Iterator[tuple[Any, list[str]]]:
    """Opens the page; yields it with the errors it reports: script, console and policy errors, and dialogs."""
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
    page.set_default_timeout(TIMEOUT_MS)
    page_errors: list[str] = []

    def on_dialog(dialog: Any) -> None:
        page_errors.append(dialog.message)
        dialog.dismiss()

    page.on("pageerror", lambda error: page_errors.append(str(error)))
    page.on("console", lambda message: page_errors.append(message.text) if message.type == "error" else None)
    page.on("dialog", on_dialog)
    page.goto(url)
    yield page, page_errors
    page.close()


def write_pair(page: Any, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        page.locator(f"[name={name}]").fill(text)


def press_judge(page: Any) -> None:
    page.get_by_role("button", name="Judge", exact=True).click()


def whole_text(page: Any, selector: str) -> str:
    """The text of an element without the numbers in its marks."""
    read = "e => [...e.childNodes].map(n => n.nodeType === 3 ? n.data : n.firstChild.data).join('')"
    return str(page.locator(selector).evaluate(read))
