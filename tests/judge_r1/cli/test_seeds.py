"""Seeds that NumPy and scikit-learn do not take are usage errors."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from judge_r1.cli import app


@pytest.mark.parametrize("seed", [-1, 2**32])
@pytest.mark.parametrize("command", [["calibrate", "answers.jsonl"], ["audit", "shortcuts", "pairs"], ["demo"]])
def test_seeds_out_of_range_are_rejected(command: list[str], seed: int, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    result = CliRunner().invoke(app, [*command, "--out", out, "--seed", str(seed)], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "Invalid value for '--seed'" in result.output
    assert not (tmp_path / "out").exists()
