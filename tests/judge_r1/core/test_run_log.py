import json
from pathlib import Path

import pytest

from judge_r1.core.errors import JudgeError
from judge_r1.core.run_log import read_metrics, read_rows
from judge_r1.training.monitor.history import History, Tail

OLD = {"step": 1, "clip_share": 0.1, "rollout/zero_variance/reward": 0.2, "rollout/zero_variance/outcome": 0.3,
       "time/sync": 4.0, "loss": 0.5}  # fmt: skip
NEW = {"step": 1, "clip_fraction": 0.1, "frac_reward_zero_std": 0.2, "frac_outcome_zero_std": 0.3,
       "time/weight_sync": 4.0, "loss": 0.5}  # fmt: skip


def test_metrics_of_older_runs_have_the_present_names(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text(json.dumps(OLD) + "\n" + json.dumps(NEW | {"step": 2}) + "\n")
    assert read_metrics(file) == [NEW, NEW | {"step": 2}]


def test_the_monitor_shows_older_runs(tmp_path: Path) -> None:
    file, history = tmp_path / "metrics.jsonl", History()
    file.write_text(json.dumps(OLD) + "\n")
    assert list(Tail(file, history).update()) == [OLD]
    assert history.last == NEW
    assert history.contains(OLD)
    assert history.contains(NEW)


def test_an_incomplete_last_line_is_skipped(tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_text('{"step": 1}\n{"st')
    assert read_rows(file) == [{"step": 1}]
    file.write_text('{"st\n{"step": 1}\n')
    with pytest.raises(JudgeError, match=r"metrics.jsonl, line 1: not JSON"):
        read_rows(file)


@pytest.mark.parametrize("last", [b"\x1f\x8b\x08", b"notes", b"[1, 2", b'{"step" 3'])
def test_a_last_line_that_no_kill_leaves_is_an_error(last: bytes, tmp_path: Path) -> None:
    file = tmp_path / "metrics.jsonl"
    file.write_bytes(b'{"step": 1}\n{"step": 2, "lo')
    assert read_rows(file) == [{"step": 1}]
    file.write_bytes(b'{"step": 1}\n' + last)
    with pytest.raises(JudgeError, match="line 2: not JSON; the log is damaged"):
        read_rows(file)
