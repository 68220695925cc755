"""The demo runs on both corpora; tests/judge_r1/test_wheel.py runs its default from an installed wheel."""

import json
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.cli.demo import judge_english, print_published
from judge_r1.training.shipped_recipes import recipes_folder


def test_the_published_table_has_a_row_for_each_judge() -> None:
    console = Console(width=80, record=True)
    print_published(console)
    shown = console.export_text()
    published = json.loads((recipes_folder() / "haystack" / "results.json").read_text())
    for row in ("base", "warm-up", "GRPO"):
        [line] = [line for line in shown.splitlines() if line.strip(" │").split("│")[0].strip() == row]
        assert f"{published['rows'][row]['accuracy']:.2f}" in line
    assert published["seeds"]["GRPO"] == 5


@pytest.mark.slow
def test_the_demo_runs_on_mini(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["demo", "--source", "mini", "--small", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    rows = json.loads((tmp_path / "summary.json").read_text())["rows"]
    assert [row["name"] for row in rows] == ["base", "warm-up", "warm-up + GRPO"]


@pytest.mark.slow
def test_the_demo_judges_english_cases_of_three_domains(tmp_path: Path) -> None:
    judge_english(tmp_path)
    [row] = json.loads((tmp_path / "eval" / "summary.json").read_text())["rows"]
    assert (row["name"], row["n"], row["cases"]) == ("bundled:judge-en", 12, 3)
    assert row["searches"] > 0.5
