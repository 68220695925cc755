"""A trace as a case: its events can be read back from the text, and nothing of the source is lost."""

import time

from hypothesis import given
from hypothesis import strategies as st

from judge_r1.traces.trace import (
    EventDraft,
    argument_text,
    joined_traces,
    numbered,
    trace_case,
    trace_events,
    trace_text,
)

DRAFTS = [
    EventDraft("message", "user", "Make the tests pass."),
    EventDraft("call", "assistant", "cmd: pytest -q", tool="bash", call_id="c1", time="2026-03-01T10:00:00Z"),
    EventDraft("result", "tool", "1 failed\n" * 200, call_id="c1", error=True),
    EventDraft("message", "assistant", "All tests pass.", meta={"usage": {"tokens": 5}}),
]


@given(st.lists(st.text(max_size=300), min_size=1, max_size=6))
def test_the_text_of_a_trace_holds_its_events(texts: list[str]) -> None:
    events = list(numbered(EventDraft("message", "user", text) for text in texts))
    context = trace_text(events)
    found = trace_events(context)
    assert [span.text for span in found] == texts
    assert all(context[span.start : span.end].startswith(f"[event {span.index}") for span in found)


def test_a_trace_is_a_case() -> None:
    case = trace_case(numbered(DRAFTS), source="run 7")
    assert (case.decision, case.reference) == ("Make the tests pass.", "All tests pass.")
    assert case.meta == {"events": {"3": {"usage": {"tokens": 5}}}}
    call, result = trace_events(case.context)[1:3]
    assert (call.kind, call.name, call.time, call.error) == ("call", "bash", "2026-03-01T10:00:00Z", False)
    assert (result.name, result.error, result.text) == ("bash", True, "1 failed\n" * 200)


def test_a_trace_without_messages_is_a_case() -> None:
    assert trace_case(numbered([EventDraft("call", "assistant", "", tool="ls")]))


def test_two_traces_in_one_text_have_letters() -> None:
    first, second = (trace_text(numbered(DRAFTS[:n]), trace=letter) for n, letter in ((4, "A"), (2, "B")))
    assert [span.label for span in trace_events(joined_traces(first, second))] == ["A0", "A1", "A2", "A3", "B0", "B1"]


def test_arguments_of_a_call_are_readable() -> None:
    assert argument_text('{"path": "a.py", "text": "x = 1\\ny = 2", "at": [1, 2]}') == (
        "path: a.py\ntext: x = 1\ny = 2\nat: [1, 2]"
    )
    assert argument_text("*** Begin Patch") == "*** Begin Patch"
    assert argument_text("[1, 2]") == "[1, 2]"
    assert argument_text(None) == ""


def test_the_events_of_a_long_text_are_found_in_linear_time() -> None:
    """Of 8 times the text, at most 32 times the time: joining its parts one by one needs 64 times."""
    times = []
    for size in (250_000, 2_000_000):
        text = trace_text(numbered([EventDraft("result", "tool", "abc def " * (size // 4))]))
        started = time.perf_counter()
        assert len(trace_events(text)) == 1
        times.append(time.perf_counter() - started)
    assert times[1] < 32 * max(times[0], 0.02)
