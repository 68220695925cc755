"""A judge for page tests: over a real chat endpoint it searches twice and answers, one step for each `go()`."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fake_judge_endpoint import JudgeServer, said
from serving_fixture import LiveServer, service

from judge_r1.core.case_store import CaseStore
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_judge

CASE = "\N{GRINNING FACE} ana paid 34. ben paid nothing. cleo left town."
GOOD, BAD = "1. ana paid 34. 2. so ben owes.", "1. ana paid 99. 2. so ben owes."
WORDS = {"context": CASE, "decision": "ben owes", "reasoning_a": GOOD, "reasoning_b": BAD}
OPTIONS = "context=none,prompt=compact,retriever=bm25,budget.top_k=1,budget.passage_words=3,budget.max_searches=3"
PATIENCE = 20_000
"""Timeout of page operations in milliseconds."""


class Paced:
    """Steps that a test releases one by one; `free()` releases all."""

    def __init__(self) -> None:
        self._steps = threading.Semaphore(0)

    def __call__(self) -> None:
        assert self._steps.acquire(timeout=60)

    def go(self) -> None:
        self._steps.release()

    def free(self) -> None:
        self._steps.release(10_000)


def fair(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    """Prefers GOOD in both positions; names principle 2."""
    asked = body["messages"][1]["content"]
    return _step(body, "A>B" if asked.index(GOOD) < asked.index(BAD) else "A<B")


def first_is_better(path: str, body: dict[str, Any]) -> tuple[int, Any]:
    return _step(body, "A>B")


def _step(body: dict[str, Any], comparison: str) -> tuple[int, Any]:
    turn = (len(body["messages"]) - 2) // 2
    if turn == 0:
        return said("<think>who paid, and <b>how much</b>?</think><search>ana paid")
    if turn == 1:
        return said("<think>and the other?</think><search>ben paid nothing")
    judgment = {"comparison": comparison, "violated_principles": [2], "explanation": "99 was never paid"}
    return said(f"<answer>{json.dumps(judgment)}")


@contextmanager
def searching_server(brain: Any = fair, wait: Any = lambda: None, **settings: Any) -> Iterator[LiveServer]:
    cases = CaseStore()
    with JudgeServer(brain, wait=wait) as mind:
        judge = make_judge(f"agentic:{OPTIONS}@{mind.url}#toy", JudgeBuild("", texts=cases))
        with LiveServer(service(judge, cases=cases, **settings)) as server:
            yield server


@contextmanager
def visited(
    browser: Any, url: str, width: int = 1280, height: int = 900, **options: Any
) -> Iterator[tuple[Any, list[str]]]:
    """Opens the page; yields it with the errors it reports: script, console and policy errors, and dialogs."""
    page = browser.new_page(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
    page.set_default_timeout(PATIENCE)
    complaints: list[str] = []

    def told(dialog: Any) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("dialog", told)
    page.goto(url)
    yield page, complaints
    page.close()


def write_pair(page: Any, words: dict[str, str]) -> None:
    for name, text in words.items():
        page.locator(f"[name={name}]").fill(text)


def press_judge(page: Any) -> None:
    page.get_by_role("button", name="Judge", exact=True).click()


def whole_text(page: Any, selector: str) -> str:
    """The text of an element without the numbers in its marks."""
    read = "e => [...e.childNodes].map(n => n.nodeType === 3 ? n.data : n.firstChild.data).join('')"
    return str(page.locator(selector).evaluate(read))
