"""Slow work shows its progress on standard error; quick work shows nothing."""

import threading
import time

import pytest

from judge_r1.core import progress
from judge_r1.core.progress import show_progress


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
    assert "judging 1 of 4" in shown
    assert "25%" in shown


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
