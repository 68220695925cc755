"""The benchmark of a GRPO step, at its smallest size."""

import json
import sys
from pathlib import Path

import pytest

from scripts.bench import grpo_step


@pytest.mark.slow
def test_both_loops_of_trl_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = ["--steps", "3", "--pairs", "2", "--group", "2", "--tokens", "16", "--repeats", "1"]
    line = ["grpo_step", "--out", str(tmp_path), "--engine", "trl", "--engine", "own", *sizes]
    monkeypatch.setattr(sys, "argv", line)
    grpo_step.main()
    rows = json.loads((tmp_path / "grpo_step.json").read_text())["rows"]
    assert [row["loop"] for row in rows] == ["ours on TRL", "TRL's own loop"]
    for row in rows:
        assert 0 < row["generation_s"] < row["step_s"]
        assert 0 < row["tokens"] <= 4 * 16
