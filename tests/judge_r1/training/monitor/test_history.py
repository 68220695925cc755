from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turn_recipes import RECIPE

from judge_r1.core.errors import JudgeError
from judge_r1.training.monitor.history import BLOCKS, History, Tail, sparkline
from judge_r1.training.run_folder import RunFolder


def history_of(*rows: dict[str, float]) -> History:
    history = History()
    for row in rows:
        history.add(row)
    return history


def test_rows_of_one_step_are_merged() -> None:
    history = history_of(
        {"step": 1, "loss": 2.0, "progress": 0.1}, {"step": 2, "loss": 1.0}, {"step": 2, "kl": 0.5, "progress": 0.2}
    )
    assert history.series("loss") == [2.0, 1.0]
    assert history.last == {"step": 2, "loss": 1.0, "kl": 0.5, "progress": 0.2}
    assert (history.step, history.total) == (2, 10)


def test_the_remaining_time_uses_the_median_of_recent_steps() -> None:
    slow = [{"step": s, "time/step": 100.0 if s < 5 else 2.0, "progress": s / 40} for s in range(1, 31)]
    assert history_of(*slow).seconds_left == 20.0
    assert history_of(slow[0], {"step": 2}).seconds_left is None
    assert History().seconds_left is None


@given(st.lists(st.floats(-1e6, 1e6), max_size=60), st.integers(1, 30))
def test_a_sparkline_fills_its_width_and_rises_with_its_values(values: list[float], width: int) -> None:
    line = sparkline(values, width)
    assert len(line) == min(width, len(values))
    assert set(line) <= set(BLOCKS)
    rising = sparkline(sorted(values), width)
    assert list(rising) == sorted(rising, key=BLOCKS.index)


def test_a_constant_series_is_a_flat_line() -> None:
    assert len(set(sparkline([0.3] * 7, 5))) == 1
    assert sparkline([0.0, 1.0], 5) == "▁█"


def test_the_tail_follows_appended_and_truncated_logs(tmp_path: Path) -> None:
    run, history = RunFolder(tmp_path, RECIPE), History()
    tail = Tail(tmp_path / "metrics.jsonl", history)
    assert list(tail.update()) == []
    for step in (1, 2, 3):
        run.log({"step": step, "loss": step})
    assert [row["step"] for row in tail.update()] == [1, 2, 3]
    assert list(tail.update()) == []
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')
    assert list(tail.update()) == []
    run.truncate_after(1)
    run.log({"step": 2, "loss": 20.0})
    assert [row["loss"] for row in tail.update()] == [20]  # step 1 was not truncated
    assert history.series("loss") == [1, 20]
    run.log({"step": 3, "loss": 30})
    run.log({"step": 4, "loss": 40})
    assert [row["step"] for row in tail.update()] == [3, 4]


def test_a_rewritten_log_is_read_again(tmp_path: Path) -> None:
    path, history = tmp_path / "metrics.jsonl", History()
    tail = Tail(path, history)
    path.write_text('{"step": 1, "loss": 1}\n{"step": 2, "loss": 2}\n')
    assert len(list(tail.update())) == 2
    path.write_text('{"step": 1, "loss": 5}\n{"step": 2, "loss": 6}\n{"step": 3, "loss": 7}\n')
    assert [row["step"] for row in tail.update()] == [1, 2, 3]
    assert history.series("loss") == [5, 6, 7]


def test_an_unfinished_line_begins_like_a_row(tmp_path: Path) -> None:
    """A gzip file may hold no line end, and would look like a run without rows."""
    log = tmp_path / "metrics.jsonl"
    log.write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(JudgeError, match="its last line is no row of metrics"):
        list(Tail(log, History()).update())
    log.write_bytes(b'{"step": 1')
    assert list(Tail(log, History()).update()) == []
