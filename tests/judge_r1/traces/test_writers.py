"""Traces that real packages wrote show what their agents did, in order, each text once."""

from pathlib import Path

import pytest

from judge_r1.traces import Unread, read_events

ADD = [("call", "add", "a: 1\nb: 2"), ("result", "add", "3")]
ASKED = [("message", "system", "Use the tool."), ("message", "user", "What is 1 + 2?")]
FOUND = [*ASKED, *ADD, ("message", "assistant", "It is 3.")]
RIGHT = {
    "langsmith_0.15.1.spans.json": [
        ("message", "user", "Hi"), ("message", "assistant", "Hello"), *ADD, ("message", "user", "and 1+2?"),
        ("message", "assistant", "Hello, it is 3"),
    ],
    "pydantic_ai_2.68.0.spans.json": [
        ("message", "system", "Be exact."), ("message", "user", "Root of 4?"), ("thought", "assistant", "I try."),
        ("call", "root", "x: -4"), ("result", "root", "use a positive number"), ("call", "root", "x: 4"),
        ("result", "root", "2.0"), ("message", "assistant", "It is 2."),
    ],
    "strands_agents_1.62.0.spans.json": FOUND,
    "strands_agents_1.62.0_latest_conventions.spans.json": FOUND,
    "openllmetry_langchain_0.62.4.spans.json": FOUND,
    "equal_answers.otlp.json": [
        ("message", "user", "Is the job done?"), *(("message", "assistant", text) for text in ("No.", "No.", "Yes.")),
    ],
    "smolagents_1.26.0.messages.json": [
        ("message", "system", "(the system prompt)"), ("message", "user", "New task:\nWhat is 1 + 2?"), ADD[0],
        ("result", "unknown", "3"), ("call", "final_answer", "answer: It is 3."), ("result", "unknown", "It is 3."),
    ],
}  # fmt: skip


@pytest.fixture
def folder(real_data: Path) -> Path:
    return real_data / "traces"


@pytest.mark.real_data
@pytest.mark.parametrize("name", RIGHT)
def test_every_text_of_a_writer_is_in_its_event(folder: Path, name: str) -> None:
    unread = Unread()
    events = list(read_events(folder / name, unread=unread))
    assert [(event.kind, event.name, event.text.strip()) for event in events] == RIGHT[name]
    assert unread.count == 0


@pytest.mark.real_data
def test_failed_calls_of_the_responses_api_are_marked(folder: Path) -> None:
    events = list(read_events(folder / "openai_responses_3.57.json"))
    failed = [(event.name, event.text) for event in events if event.error]
    assert failed == [("apply_patch", "no such file"), ("get", "not found")]
    assert events[-1].text == "I cannot."
