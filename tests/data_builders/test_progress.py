"""Progress shows rate, cost and remaining time; without a terminal it prints plain lines."""

import time

import pytest

from data_builders import progress
from data_builders.progress import Progress
from data_builders.teachers import TeacherReply
from data_builders.teachers.answer_cache import Tokens
from data_builders.teachers.budget import Price, Spending


def test_line_shows_counts_rate_cost_and_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    spending = Spending({"toy": Price(input=3, output=15)})
    spending.open_account("chat:toy", Tokens())
    shown = Progress("mini", 50, spending)
    for _ in range(10):
        now += 2
        spending.add(
            "chat:toy", TeacherReply(text="x", input_tokens=100_000, output_tokens=20_000, finished=True, model="toy")
        )
        shown.tick(shown.answers + 7)
        shown.item_done(35)
    assert shown.line() == "10 of 50 cases, 350 pairs, 3.5 answers/s, $6.00 so far, 0:01:20 left"


def test_rate_is_measured_over_recent_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty cases come from the cache at once; later ones take ten seconds each."""
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    shown = Progress("mini", 100)
    for case in range(60):
        now += 0.01 if case < 40 else 10
        shown.item_done(1)
    assert shown.line().endswith("0:06:40 left")


def test_without_a_terminal_plain_lines_are_printed_periodically(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with Progress("mini", 100) as shown:
        for _ in range(90):
            now += 1
            shown.item_done(2)
    lines = capsys.readouterr().err.splitlines()
    left = {30: "0:01:10", 60: "0:00:40", 90: "0:00:10"}
    assert lines == [f"mini: {n} of 100 cases, {2 * n} pairs, {time_left} left" for n, time_left in left.items()]
    assert progress.EVERY_S == 30
