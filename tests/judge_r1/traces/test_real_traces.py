"""One small agent, recorded by real tools: Inspect, the runner of verifiers, and OpenTelemetry.

`data/` holds what they wrote about the agent of `scripted_agent`: inspect-ai 0.3.285 (`calc.eval`), verifiers 0.4.0
with its bash harness (`verifiers.jsonl`), and opentelemetry-instrumentation-openai-v2 2.4b0, as the console exporter
prints its spans and as OTLP.
"""

from pathlib import Path

import pytest
from scripted_agent import CLAIM, STEPS, TASK, inspect_log

from judge_r1.traces import FORMATS, format_of, read_events
from judge_r1.traces.base import BadTrace, TraceFile
from judge_r1.traces.trace import Event, trace_case

DATA = Path(__file__).parent / "data"
FILES = {
    "calc.eval": "inspect", "verifiers.jsonl": "verifiers", "console_spans.json": "opentelemetry",
    "otlp.json": "opentelemetry",
}  # fmt: skip


def check_story(events: list[Event]) -> None:
    """The task, each step with its text, its command and the result, and the claim, each once and in order."""
    shown = [event for event in events if event.role != "system"]
    assert (shown[0].role, shown[0].text) == ("user", TASK)
    assert (shown[-1].role, shown[-1].text) == ("assistant", CLAIM)
    assert [event.text for event in shown if event.kind == "call"] == [f"command: {command}" for _, command in STEPS]
    assert [event.text for event in shown if event.kind == "message"] == [TASK, *(text for text, _ in STEPS), CLAIM]
    results = [event for event in shown if event.kind == "result"]
    assert [event.tool for event in results] == ["bash"] * 3
    assert "return a - b" in results[0].text
    assert "AssertionError: add(2, 3) is -1" in results[1].text
    assert len(shown) == 2 + 3 * len(STEPS)
    assert all(event.time for event in shown[1:])
    assert trace_case(events).reference == CLAIM


@pytest.mark.parametrize("name", FILES)
def test_a_recorded_agent(name: str) -> None:
    assert format_of(TraceFile(DATA / name)) == FILES[name]
    events = list(read_events(DATA / name))
    check_story(events)
    assert events[0].meta["trace"]


def test_a_failed_tool_is_marked_where_the_format_says_so() -> None:
    spans = list(read_events(DATA / "otlp.json"))
    assert [event.error for event in spans if event.kind == "result"] == [False, True, False]


@pytest.mark.parametrize("name", FILES)
def test_no_other_number(name: str) -> None:
    assert list(read_events(DATA / name, number=1)) == list(read_events(DATA / name))
    with pytest.raises(BadTrace, match="no number 2"):
        list(read_events(DATA / name, number=2))


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 and more")
    with pytest.raises(BadTrace, match="is no Inspect log that can be read"):
        list(read_events(tmp_path / "a.zip"))


def test_every_format_says_what_it_is() -> None:
    assert all(FORMATS.get(name).about for name in FORMATS.names())


@pytest.mark.slow
@pytest.mark.parametrize("format", ["eval", "json"])
def test_a_log_that_inspect_writes_now(tmp_path: Path, format: str) -> None:
    check_story(list(read_events(inspect_log(tmp_path, format))))
