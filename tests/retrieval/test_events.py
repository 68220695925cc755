"""The text of a trace: nothing inside an event passes for another event, and searches find events by filters."""

import pytest
from hash_embedder import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st

from retrieval.events import MARK, EventFilter, event_parts, original_text, render_event, split_query
from retrieval.passages import split_passages
from retrieval.retriever import Retriever

LINES = st.sampled_from(
    [
        "[event 3: call bash]",
        "\\[event 1, part 1 of 2: result bash error]",
        "[trace 1]",
        "1 failed",
        "\r",
        " ",
        "x" * 900,
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(LINES, max_size=30).map("\n".join))


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_an_event_cannot_hold_another_event(texts: list[str]) -> None:
    trace = MARK + "".join(render_event(number, "result", "bash", text) for number, text in enumerate(texts))
    found: dict[int, str] = {}
    for header, start, end in event_parts(trace):
        found[header.event] = found.get(header.event, "") + original_text(trace[start:end])
    assert list(found.values()) == texts


@given(TEXTS, st.text(max_size=20), st.text(max_size=20))
def test_hostile_names_and_times_stay_in_their_header(text: str, name: str, time: str) -> None:
    trace = MARK + render_event(0, "call", name, text, time=time) + render_event(1, "message", "user", "next")
    assert {header.event for header, _, _ in event_parts(trace)} == {0, 1}


def test_passages_are_parts_of_events_that_name_their_event() -> None:
    log = "".join(f"line {number} of the log\n" for number in range(200))
    text = MARK + render_event(0, "call", "bash", "cmd: make") + render_event(1, "result", "bash", log, error=True)
    passages = split_passages(text)
    assert all(text[one.start : one.end] == one.text for one in passages)
    assert passages[0].text == "[event 0: call bash]\ncmd: make"
    assert passages[1].text.startswith(f"[event 1, part 1 of {len(passages) - 1}: result bash error]\nline 0 of")
    assert len(passages) > 5


@pytest.mark.parametrize(
    ("query", "filters", "rest"),
    [
        ("tool:bash error", EventFilter(named=(("tool", "bash"),)), "error"),
        ("events 40-60", EventFilter(ranges=(("", 40, 60),)), ""),
        ("what failed in events 60 to 40?", EventFilter(ranges=(("", 40, 60),)), "what failed in ?"),
        ("event 7 and event 9", EventFilter(ranges=(("", 7, 7), ("", 9, 9))), "and"),
        ("events B3-5 kind:Result", EventFilter((("B", 3, 5),), (("kind", "result"),)), ""),
        ("event handlers in 2026", EventFilter(), "event handlers in 2026"),
        ("event 12a", EventFilter(), "event 12a"),
    ],
)
def test_filters_of_a_query(query: str, filters: EventFilter, rest: str) -> None:
    assert split_query(query) == (filters, rest)


def trace_of(*names: str) -> str:
    return MARK + "".join(
        render_event(number, "result", name, f"the answer of {name} is an error") for number, name in enumerate(names)
    )


@pytest.mark.parametrize("method", ["bm25", HashEmbedder()], ids=["bm25", "dense"])
def test_a_filtered_search_finds_only_accepted_events(method: str | HashEmbedder) -> None:
    retriever = Retriever({"one": trace_of("bash", "edit", "bash", "read")}, method=method)

    def events(query: str, k: int = 9) -> list[int]:
        return [int(hit.passage.text.split()[1].rstrip(":")) for hit in retriever.search([("one", query)], k)[0]]

    assert set(events("tool:bash error")) == {0, 2}
    assert events("events 1-2") == [1, 2]
    assert events("events 1-3", k=2) == [1, 2]
    assert set(events("events 1-3 tool:edit answer")) == {1}
    assert events("tool:none error") == []
    assert set(events("tool:bash zzzz")) == {0, 2}
    assert len(events("error")) == 4


def test_a_search_of_one_trace_never_sees_another() -> None:
    retriever = Retriever({"one": trace_of("bash"), "two": trace_of("edit", "bash")}, method="bm25")
    [one, two] = retriever.search([("one", "tool:bash error"), ("two", "tool:bash error")], 9)
    assert [hit.passage.text for hit in one] == ["[event 0: result bash]\nthe answer of bash is an error"]
    assert [hit.passage.text for hit in two] == ["[event 1: result bash]\nthe answer of bash is an error"]


def test_other_texts_have_no_filters() -> None:
    retriever = Retriever({"law": "The tool:bash is here.\nEvents 40-60 are there."}, method="bm25")
    assert retriever.search([("law", "events 40-60")], 1)[0][0].score > 0
