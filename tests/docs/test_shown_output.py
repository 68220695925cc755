"""The output that a page shows is that of its commands."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs_commands import commands
from paths import REPO
from typer.testing import CliRunner

from judge_r1.cli import app


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


def test_the_table_of_the_results_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPO)
    page = (REPO / "docs" / "results.md").read_text(encoding="utf-8")
    shown = page.partition("```\ngroup")[2].partition("```")[0].split()
    (command,) = commands("results.md")
    printed = CliRunner().invoke(app, command.split()[1:]).output.partition("group")[2].split()
    assert len(shown) > 30
    assert printed[: len(shown)] == shown


def test_the_differences_of_the_haystack_page_are_those_of_the_recorded_runs() -> None:
    shown = re.findall(r"^GRPO - .*", (REPO / "docs" / "haystack.md").read_text(encoding="utf-8"), re.MULTILINE)
    (command,) = commands("haystack.md")
    line = [sys.executable, *command.split()[1:]]
    done = subprocess.run(line, cwd=REPO, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(shown) == 4
    assert set(shown) <= set(done.stdout.splitlines())


def test_the_readme_shows_what_its_program_prints(capsys: pytest.CaptureFixture[str]) -> None:
    code = (REPO / "README.md").read_text(encoding="utf-8").split("```python\n", 1)[1].split("```", 1)[0]
    exec(code, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.+)$", code, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["build_dataset.md", "security.md", "statistics.md"])
def test_each_line_that_a_page_shows_after_its_first_example_is_printed(page: str, tmp_path: Path) -> None:
    text = (REPO / "docs" / page).read_text(encoding="utf-8")
    first, shown = re.findall(r"^```(?:bash|python|)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[:2]
    program = [sys.executable, "-c"] if page == "statistics.md" else ["bash", "-ec"]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(REPO), "PATH": path, "COLUMNS": "100"}
    done = subprocess.run([*program, first], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line for line in shown.splitlines() if line != "…"]
    assert lines
    assert [line for line in lines if line not in done.stdout.splitlines()] == []
