"""The output that a page shows is that of its commands."""

import subprocess
import sys
from pathlib import Path

import pytest
from docs_commands import commands
from paths import REPO


@pytest.mark.slow
def test_the_table_of_the_evaluation_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    page = (REPO / "docs" / "evaluate.md").read_text(encoding="utf-8")
    table = page.partition("Overall (lrbench)")[2].partition("…")[0].split()
    assert len(table) > 30
    for command in commands("evaluate.md"):
        line = [sys.executable, "-m", "judge_r1.cli", *command.split()[1:]]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    printed = done.stdout.partition("Overall (lrbench)")[2].split()
    assert printed[: len(table)] == table
