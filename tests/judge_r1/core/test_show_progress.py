"""Slow work shows its progress on standard error; quick work shows nothing."""

import threading
import time

import pytest

from judge_r1.core import progress
from judge_r1.core.progress import Done, show_progress, watch_progress


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "AFTER_S", 0.2)
    monkeypatch.setattr(progress, "EVERY_S", 0.2)


def test_plain_lines_with_the_time_left(capfd: pytest.CaptureFixture[str]) -> None:
    with show_progress("judging", 4) as one_done:
        time.sleep(0.4)
        one_done()
        time.sleep(0.9)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "judging: 0 of 4 after 0:00:00"
    assert lines[-1].startswith("judging: 1 of 4 after 0:00:01, 0:00:0")
    assert lines[-1].endswith(" left")


def test_a_bar_on_a_terminal_moves_while_the_work_blocks(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "90")
    with show_progress("judging", 4) as one_done:
        one_done()
        time.sleep(0.9)
    shown = capfd.readouterr().err
    assert "judging" in shown
    assert "1 of 4" in shown


@pytest.mark.parametrize(("shown", "seconds"), [(True, 0.0), (False, 0.5)])
def test_quick_and_quiet_work_print_nothing(shown: bool, seconds: float, capfd: pytest.CaptureFixture[str]) -> None:
    with show_progress("judging", 1, shown=shown) as one_done:
        time.sleep(seconds)
        one_done()
    assert capfd.readouterr().err == ""
    assert "progress" not in {thread.name for thread in threading.enumerate()}


def test_an_error_ends_the_thread() -> None:
    with pytest.raises(ValueError, match="broken"), show_progress("judging", 1):
        raise ValueError("broken")
    assert "progress" not in {thread.name for thread in threading.enumerate()}


def test_the_time_left_is_that_of_recent_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty pieces come from a cache at once; later ones take ten seconds each."""
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    left = progress._TimeLeft()
    assert left.after(Done(0, 100)) is None
    for piece in range(1, 61):
        now += 0.01 if piece <= 40 else 10
        shown = left.after(Done(piece, 100))
    assert str(shown) == "0:06:40"


def test_nothing_is_shown_until_the_total_is_known(capfd: pytest.CaptureFixture[str]) -> None:
    done = Done(0, 0)
    with watch_progress("embedding", lambda: done):
        time.sleep(0.5)
        assert capfd.readouterr().err == ""
        done = Done(1, 2, "3 MB")
        time.sleep(0.5)
    assert capfd.readouterr().err.splitlines()[-1].endswith("3 MB")
